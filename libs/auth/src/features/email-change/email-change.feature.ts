import { Realm, data, defineFeature, identity, limiter, mailing, schema, type settings } from '../../kit';
import { EmailChangeConfirmation, EmailChangeRequests, EmailReplacements } from './email-change';
import { CreateSvcEmailChanges1764200000000, EmailChange } from './email-change.entity';
import { EmailChangeController, EmailChangeFlow } from './email-change.controller';
import { EmailChangeRows, EmailChangeStore, type ExportedEmailChange } from './email-change.store';
import { EmailChangeUndo } from './email-change-undo';
import { EMAIL_CHANGE_OPTIONS } from './email-change.options';
import { EMAIL_CHANGE_EVENTS } from './email-change.events';

/** The undo of a change replaces the password, so its user needs another one. */
function resetErrors({ guards }: settings.AuthConfig): string[] {
  return guards
    .filter(({ features, facts }) => features.emailChange && !facts.mailsPasswordLinks)
    .map(
      ({ guard, decidedBy }) =>
        `features.emailChange needs ${decidedBy.mailsPasswordLinks} at the guard "${guard}": a user who undoes a change gets a link to choose a new password. Turn it on, or turn features.emailChange off.`,
    );
}

const reasons = {
  email_change_failed: 'the link of a change of email is not valid, has expired or was replaced',
  new_email_taken: 'the link of a change of email is valid, but another account has the new address now',
  former_email_taken: 'a change of email cannot be undone: another account has the former address',
};

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends Readonly<typeof reasons> {}
}

function userErrors(users: identity.UserProvider, guard: settings.GuardConfig): (string | false)[] {
  if (!guard.features.emailChange) return [];
  return [
    identity.sharedColumn(users, 'email', 'features.emailChange'),
    !users.offers('changeEmail') &&
      `features.emailChange is on, but the users of the guard "${guard.guard}" cannot get another email. ` +
        `${identity.implement('changeEmail', guard)}, or turn the feature off.`,
  ];
}

/** Change of the email, confirmed at the new address, undone from the former one. */
export const emailChange = defineFeature('emailChange', {
  flags: ['emailChange'],
  keepsCredentials: ['email_change'],
  facts: { changesEmails: 'features.emailChange' },
  reasons,
  languages: () =>
    (require('./email-change.languages') as typeof import('./email-change.languages')).emailChangeLanguages,
  options: EMAIL_CHANGE_OPTIONS,
  userErrors,
  needsMailer: true,
  mails: {
    emailChange: { class: 'requested', example: mailing.EXAMPLE_LINK },
    emailChanged: {
      class: 'security',
      example: { ...mailing.EXAMPLE_CHANGE, url: mailing.EXAMPLE_LINK.url, days: 7, newEmail: 'g…@example.org' },
    },
  },
  events: EMAIL_CHANGE_EVENTS,
  limits: {
    'svc-email-change': limiter.perClientAndUser(({ emailChange: limit }) => limit),
  },
  configErrors: resetErrors,
  exportedIfUsed: {
    email_changes: schema.listOf(
      schema.record<ExportedEmailChange>({
        from: schema.orNull(schema.TEXT),
        to: schema.TEXT,
        requested_at: schema.TIME,
        confirmed_at: schema.orNull(schema.TIME),
        undone_at: schema.orNull(schema.TIME),
      }),
    ),
  },
  writesUsers: () => 'UPDATE',
  waits: { 'change of the email': { row: '`POST /email/change/confirm`', inARow: 20, longest: 6 } },
  capabilities: { emailChange: EmailChangeFlow },
  defaultGuardControllers: [EmailChangeController],
  providers: [EmailChangeStore, EmailReplacements, EmailChangeRequests, EmailChangeConfirmation, EmailChangeUndo],
  on: { identifierHeld: (services, email) => services.get(EmailChangeStore).holderOf(email) },
  data: {
    entities: [{ entity: EmailChange, migration: CreateSvcEmailChanges1764200000000 }],
    stores: [EmailChangeRows],
    export: {
      email_changes: async (services, userId) => {
        const changes = await services.get(EmailChangeRows).list(userId);
        return data.ifUsed(changes, services.get(Realm).options.features.emailChange);
      },
    },
    erase: [data.rowsOfUser(EmailChange)],
    prune: {
      emailChanges: {
        title: 'changes of email',
        ofAllGuards: true,
        run: (services) => services.get(EmailChangeRows).prune(),
      },
    },
  },
});
