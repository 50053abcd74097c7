import { Injectable } from '@nestjs/common';
import type { LoggedEvents } from '../../foundation/realm/log-events';
import type { Sql } from '../../foundation/platform/database';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { Clock } from '../../foundation/platform/clock';
import { Realm } from '../../foundation/realm/realm';
import { Accounts } from '../sessions/accounts';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { EmailDeliveries } from './email-delivery.store';
import { UserProvider } from '../../foundation/ports/user-provider';
import type { EmailProof } from '../mail/mail-limits.policy';
import { isProvedByPerson } from './email-proof.policy';

/**
 * A user verified the email address. Emitted once per address.
 *
 * @publicApi
 */
export class Verified {
  /** @param user the user as read before the verification */
  constructor(readonly user: object) {}
}

declare module '../../foundation/platform/catalogue' {
  interface SecurityEvents {
    'auth.email.verified': Verified;
  }
}

export const EMAIL_VERIFICATION_EVENTS: LoggedEvents = {
  'auth.email.verified': {
    event: Verified,
    severity: 'info', // Only the default guard verifies email addresses.
    details: ({ user }, realms) => ({
      user_id: realms.default.get(UserProvider).idOf(user),
      guard: realms.default.realm.guard,
    }),
  },
};

/** Reads and records verified addresses in the user store of a guard that verifies them. See {@link VerifiedEmails}. */
@Injectable()
export class StoredVerifiedEmails {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly events: AuthEvents,
    private readonly clock: Clock,
    private readonly deliveries: EmailDeliveries,
    readonly realm: Realm,
  ) {}

  /** Whether the user store of this guard knows which addresses are verified. */
  get isKnown(): boolean {
    return this.users.verifiesEmails();
  }

  /** The user as this guard reads it; null if there is none. */
  read(userId: string): Promise<object | null> {
    return this.users.findById(userId);
  }

  isMissing(user: object): boolean {
    return this.users.isEmailVerified(user) !== true;
  }

  async proofOf(user: object): Promise<EmailProof> {
    if (this.isMissing(user)) return 'none';
    return (await this.isProved(user)) ? 'person' : 'delivery';
  }

  async isProved(user: object): Promise<boolean> {
    return this.wasProved(this.users.idOf(user), this.users.emailOf(user), !this.isMissing(user));
  }

  async wasProved(userId: string, email: string | null, isVerified: boolean): Promise<boolean> {
    // A user who is marked as verified and has no address cannot be given to the owner of one.
    const isDeliveryOnly = isVerified && email !== null && (await this.deliveries.has(userId, email));
    return isProvedByPerson({ isVerified, isDeliveryOnly });
  }

  async recordDelivery(user: object, email: string): Promise<boolean> {
    if (!this.isMissing(user)) return false;
    // Before the mark: the address must not count as proved after a failure between the two. A row for each request, because
    // another request with the link may set the mark, and needs its row.
    const id = await this.deliveries.add(this.users.idOf(user), email);
    const isMarked = await this.mark(user, email);
    if (!isMarked) await this.deliveries.remove([id]);
    return isMarked;
  }

  async recordPerson(user: object, email: string): Promise<void> {
    await this.mark(user, email);
    // After the mark: a request that opens the link at the same time cannot set it any more, and removes its row itself.
    await this.deliveries.removeAll(this.users.idOf(user), email);
  }

  async recordChange(sql: Sql, userId: string, email: string, isProved: boolean): Promise<void> {
    await (isProved ? this.deliveries.removeAll(userId, email, sql) : this.deliveries.add(userId, email, sql));
  }

  private async mark(user: object, email: string): Promise<boolean> {
    const changed = await this.users.markEmailVerified(this.users.idOf(user), email, new Date(this.clock.now()));
    if (!changed) return false;
    this.events.emit(new Verified(user));
    return true;
  }
}

/**
 * Reads and records which email addresses are verified, and which of them a person has proved: see {@link isProvedByPerson}. Both are
 * facts of the user: where this guard does not verify addresses, another guard with the same users is asked. Without one, no
 * address needs a verification.
 */
@Injectable()
export class VerifiedEmails {
  constructor(
    private readonly accounts: Accounts,
    private readonly users: TimedUserProvider,
    private readonly realm: Realm,
  ) {}

  /** Whether the user's email address still has to be verified. True if it is not known. */
  isMissing(user: object): Promise<boolean> {
    return this.ask(user, false, async (emails, same) => emails.isMissing(same));
  }

  /** Whether a person has proved the user's address. */
  isProved(user: object): Promise<boolean> {
    return this.ask(user, true, (emails, same) => emails.isProved(same));
  }

  /** Whether a person has proved an address that the user has now, or had before. */
  async wasProved(userId: string, email: string | null, isVerified: boolean): Promise<boolean> {
    return (await this.verifying?.wasProved(userId, email, isVerified)) ?? true;
  }

  /** What is known of the recipient of a mail to the user's address. `person` where no address is verified. */
  proofOf(user: object): Promise<EmailProof> {
    return this.ask<EmailProof>(user, 'person', (emails, same) => emails.proofOf(same));
  }

  /**
   * Marks the address as verified by a link that was opened without a session of the user, if it is still the user's address
   * and was not verified. Returns whether it did so.
   */
  recordDelivery(user: object, email: string): Promise<boolean> {
    return this.ask(user, false, (emails, same) => emails.recordDelivery(same, email));
  }

  /** Records that a person has proved the address, and marks it as verified if it is still the user's address. */
  recordPerson(user: object, email: string): Promise<void> {
    return this.ask(user, undefined, (emails, same) => emails.recordPerson(same, email));
  }

  /** Records in a transaction that stores another address as verified whether a person has proved it. */
  async recordChange(sql: Sql, userId: string, email: string, isProved: boolean): Promise<void> {
    await this.verifying?.recordChange(sql, userId, email, isProved);
  }

  /** @param otherwise the answer where no address is verified, and for a user that does not exist any more */
  private async ask<T>(
    user: object,
    otherwise: T,
    question: (emails: StoredVerifiedEmails, user: object) => Promise<T>,
  ): Promise<T> {
    const { verifying } = this;
    if (!verifying) return otherwise;
    // Another guard may have another class for the rows of the users.
    const isOwn = verifying.realm === this.realm;
    const same = isOwn ? user : await verifying.read(this.users.idOf(user));
    return same ? question(verifying, same) : otherwise;
  }

  /** Those of this guard, or else of another guard with the same users. */
  private get verifying(): StoredVerifiedEmails | undefined {
    const known = this.accounts.services(StoredVerifiedEmails).filter(({ isKnown }) => isKnown);
    return known.find(({ realm }) => realm === this.realm) ?? known[0];
  }
}
