import type { AuthConfig } from '../../foundation/config/auth-config';
import { defineFeature } from '../../foundation/realm/feature';
import { rowsOfUser } from '../../foundation/realm/feature-data';
import { ExistingAccountMails } from '../mail/existing-account-mails';
import { EmailChangeConfirmation, EmailChangeRequests, EmailReplacements } from './email-change';
import { CreateSvcEmailChanges1764200000000, EmailChange } from './email-change.entity';
import { EmailChangeController } from './email-change.controller';
import { EmailChangeRows, EmailChangeStore } from './email-change.store';
import { EmailChangeUndo } from './email-change-undo';

/** The undo of a change replaces the password, so its user needs another one. */
function resetErrors({ guards }: AuthConfig): string[] {
  return guards
    .filter(({ features }) => features.emailChange && !features.passwordReset)
    .map(
      ({ guard }) =>
        `features.emailChange needs features.passwordReset at the guard "${guard}": a user who undoes a change gets a link to choose a new password. Turn it on, or turn features.emailChange off.`,
    );
}

/** Change of the email, confirmed at the new address, undone from the former one. */
export const emailChange = defineFeature('emailChange', {
  flags: ['emailChange'],
  configErrors: resetErrors,
  defaultGuardControllers: [EmailChangeController],
  providers: [
    EmailChangeStore,
    EmailReplacements,
    ExistingAccountMails,
    EmailChangeRequests,
    EmailChangeConfirmation,
    EmailChangeUndo,
  ],
  on: { identifierHeld: (services, email) => services.get(EmailChangeStore).holderOf(email) },
  data: {
    entities: [{ entity: EmailChange, migration: CreateSvcEmailChanges1764200000000 }],
    stores: [EmailChangeRows],
    export: { email_changes: (services, userId) => services.get(EmailChangeRows).list(userId) },
    erase: [rowsOfUser(EmailChange)],
    prune: {
      emailChanges: {
        title: 'changes of email',
        ofAllGuards: true,
        run: (services) => services.get(EmailChangeRows).prune(),
      },
    },
  },
});
