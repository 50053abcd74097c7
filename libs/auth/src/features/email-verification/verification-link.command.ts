import { identity, mailing, type manifest } from '../../kit';
import { VerificationMails } from './email-verification';

/**
 * Mails an account another link to verify its address, for users who cannot sign in because their link expired. The link
 * goes to the stored address only, so the operator does not need to authenticate the user.
 */
export const VERIFICATION_LINK_COMMAND: manifest.ConsoleCommand = {
  arguments: [{ name: 'identifier', description: 'what the account signs in with' }],
  description: 'mail an account another link to verify its email address',
  async run(services, [identifier = '']) {
    const [users, mails] = [services.get(identity.TimedUserProvider), services.get(VerificationMails)];
    const found = await users.findByIdentifier(identifier.trim());
    if (!found) return { refused: `No account signs in as "${identifier}".` };
    const draft = await mails.draftFor(users.idOf(found.user));
    if (!draft) return { refused: `Nothing was mailed: the address of "${identifier}" is verified, or there is none.` };
    // Awaited, so that the command reports a failure. The operator has asked, so other requests do not count.
    if (!(await services.get(mailing.MailQueue).send('emailVerification', { ...draft, isOwners: true })))
      return { refused: `Nothing was mailed: "${identifier}" got five links within an hour.` };
    return { done: `Mailed a link to ${draft.to}.` };
  },
};
