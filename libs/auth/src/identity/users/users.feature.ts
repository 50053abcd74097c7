import { defineFeature } from '../../foundation/realm/feature';
import { rowsOfUser } from '../../foundation/realm/feature-data';
import { CreateSvcEmailDeliveries1764500000000, EmailDelivery } from './email-delivery.entity';
import { EmailDeliveries } from './email-delivery.store';
import { PROVED_EMAIL_EVENTS, ProvedEmails } from './proved-emails';

/** What is known of users, besides what their provider stores. */
export const users = defineFeature('users', {
  events: PROVED_EMAIL_EVENTS,
  providers: [EmailDeliveries, ProvedEmails],
  data: {
    entities: [{ entity: EmailDelivery, migration: CreateSvcEmailDeliveries1764500000000 }],
    erase: [rowsOfUser(EmailDelivery)],
    prune: { emailDeliveries: { title: 'opened links', run: (services) => services.get(EmailDeliveries).prune() } },
  },
});
