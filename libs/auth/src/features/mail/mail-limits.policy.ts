import type { MailClass, StatedMail } from '../../foundation/ports/mail';
import type { EmailProof } from '../../identity/users/email-proof.policy';

/** A limit on mails to one recipient. */
export interface MailLimit {
  /**
   * Which mails count together: all that share the budget of the recipient, those of them that one client has caused, or
   * those of one kind from one guard.
   */
  readonly of: 'recipient' | 'client' | 'kind';
  readonly max: number;
  readonly seconds: number;
}

const HOUR = 3600;

/**
 * The budget of a recipient, over all kinds and guards. One client can use a part of it, so that requests of one client do not
 * prevent the mails that the owner of the address asks for from another one.
 */
const BUDGET: readonly MailLimit[] = [
  { of: 'recipient', max: 10, seconds: HOUR },
  { of: 'client', max: 6, seconds: HOUR },
];

/** One mail in a minute, so that a change that is repeated does not flood a mailbox. */
const PAUSE: MailLimit = { of: 'kind', max: 1, seconds: 60 };

/** The first mails inform the owner; further ones would only flood the mailbox. */
const FEW: MailLimit = { of: 'kind', max: 5, seconds: HOUR };

/** For a mail without a session, about one state of an account: each client that knows the identifier can cause it. */
const ONE: MailLimit = { of: 'kind', max: 1, seconds: HOUR };

/** The limits of a mail of each class that does not share the budget. */
const OWN: Readonly<Record<MailClass, readonly MailLimit[]>> = {
  requested: [FEW],
  security: [FEW],
  change: [PAUSE, FEW],
};

/**
 * Decides under which limits a mail is sent; null if it is not sent. Pure.
 *
 * A mail that only its proved owner can cause, or that informs the proved owner of an account, never shares the budget:
 * otherwise other people could use it up, and so prevent that the owner is informed.
 *
 * @param proof of a requested mail: `person` if the request contained a secret that was mailed to this address, otherwise `none`
 */
export function mailLimits(
  { class: mailClass, onceIn }: Pick<StatedMail, 'class' | 'onceIn'>,
  proof: EmailProof,
): readonly MailLimit[] | null {
  if (mailClass === 'change' && proof === 'none') return null;
  if (onceIn === 'hour') return [ONE];
  // The link of a security mail protects the account, also of an owner whom a program has spared the proof.
  if (proof === 'person' || (proof === 'delivery' && mailClass === 'security')) return OWN[mailClass];
  return [...BUDGET, ...(onceIn === 'minute' ? [PAUSE] : mailClass === 'requested' ? [] : OWN[mailClass])];
}
