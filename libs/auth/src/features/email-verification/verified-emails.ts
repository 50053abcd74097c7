import { Injectable } from '@nestjs/common';
import type { Sql } from '../../foundation/platform/database';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { Clock } from '../../foundation/platform/clock';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { EmailDeliveries } from './email-delivery.store';
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

/** Reads and records which email addresses are verified, and which of them a person has proved: see {@link isProvedByPerson}. */
export abstract class VerifiedEmails {
  /** Whether the user's email address still has to be verified, according to this user object. True if it is not known. */
  abstract isMissing(user: object): boolean;

  /** Whether a person has proved the user's address, according to this user object. */
  abstract isProved(user: object): Promise<boolean>;

  /** Whether a person has proved an address that the user has now, or had before. */
  abstract wasProved(userId: string, email: string | null, isVerified: boolean): Promise<boolean>;

  /**
   * Marks the address as verified by a link that was opened without a session of the user, if it is still the user's address
   * and was not verified. Returns whether it did so.
   */
  abstract recordDelivery(user: object, email: string): Promise<boolean>;

  /** Records that a person has proved the address, and marks it as verified if it is still the user's address. */
  abstract recordPerson(user: object, email: string): Promise<void>;

  /** Records in a transaction that stores another address as verified whether a person has proved it. */
  abstract recordChange(sql: Sql, userId: string, email: string, isProved: boolean): Promise<void>;

  /** What is known of the recipient of a mail to the user's address. `person` where no address is verified. */
  abstract proofOf(user: object): Promise<EmailProof>;
}

/** Reads and records verified addresses in the user store of the realm. */
@Injectable()
export class StoredVerifiedEmails extends VerifiedEmails {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly events: AuthEvents,
    private readonly clock: Clock,
    private readonly deliveries: EmailDeliveries,
  ) {
    super();
  }

  isMissing(user: object): boolean {
    return this.users.isEmailVerified(user) !== true;
  }

  async proofOf(user: object): Promise<EmailProof> {
    if (!this.users.verifiesEmails()) return 'person';
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

/** Used when `features.emailVerification` is off: no address needs a verification. */
@Injectable()
export class NoVerifiedEmails extends VerifiedEmails {
  isMissing(): boolean {
    return false;
  }

  async proofOf(): Promise<EmailProof> {
    return 'person';
  }

  async isProved(): Promise<boolean> {
    return true;
  }

  async wasProved(): Promise<boolean> {
    return true;
  }

  async recordDelivery(): Promise<boolean> {
    return false;
  }

  async recordPerson(): Promise<void> {}

  async recordChange(): Promise<void> {}
}
