import { Command, CommandRunner } from 'nest-commander';
import { MailQueue } from '../../features/mail/mail-queue';
import { VerificationMails } from '../../features/email-verification/verification-mails';
import { Realms } from '../../foundation/realm/realm';
import { UserProvider } from '../../foundation/ports/user-provider';
import { Application } from './application';
import { CommandRefused, reported } from './command-error';

/**
 * Mails an account another link to verify its address, for users who cannot sign in because their link expired. The link
 * goes to the stored address only, so the operator does not need to authenticate the user.
 */
@Command({
  name: 'svc:verification-link',
  arguments: '<identifier>',
  description: 'Mail an account another link to verify its email address',
  argsDescription: { identifier: 'what the account signs in with' },
})
export class VerificationLinkCommand extends CommandRunner {
  constructor(private readonly application: Application) {
    super();
  }

  run([identifier = '']: string[]): Promise<void> {
    return reported(async () => {
      const to = await this.application.use(async (app) => {
        const { realm, ...scope } = scopeOf(app.get(Realms, { strict: false }));
        if (!realm.options.features.emailVerification) throw new CommandRefused('features.emailVerification is off.');
        const found = await scope.users.findByIdentifier(identifier.trim());
        if (!found) throw new CommandRefused(`No account signs in as "${identifier}".`);
        const draft = await scope.mails.draftFor(scope.users.idOf(found.user));
        if (!draft)
          throw new CommandRefused(`Nothing was mailed: the address of "${identifier}" is verified, or there is none.`);
        // Awaited, so that the command reports a failure. The operator has asked, so other requests do not count.
        if (!(await scope.queue.send('emailVerification', { ...draft, isOwners: true })))
          throw new CommandRefused(`Nothing was mailed: "${identifier}" got five links within an hour.`);
        return draft.to;
      });
      process.stdout.write(`Mailed a link to ${to}.\n`);
    });
  }
}

const scopeOf = ({ default: scope }: Realms) => ({
  realm: scope.realm,
  users: scope.get(UserProvider),
  mails: scope.get(VerificationMails),
  queue: scope.get(MailQueue),
});
