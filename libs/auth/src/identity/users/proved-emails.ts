import { Injectable } from '@nestjs/common';
import type { LoggedEvents } from '../../foundation/realm/log-events';
import type { Sql } from '../../foundation/platform/database';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { Clock } from '../../foundation/platform/clock';
import { Realm, Realms } from '../../foundation/realm/realm';
import { UserProvider } from '../../foundation/ports/user-provider';
import { EmailDeliveries } from './email-delivery.store';
import { type EmailProof, isProvedByPerson } from './email-proof.policy';
import { TimedUserProvider } from './timed-user-provider';

/**
 * A user verified the email address. Emitted once per address.
 *
 * @publicApi
 */
export class Verified {
  /** @param user the user as read before the verification, or as created with a verified address */
  constructor(readonly user: object) {}
}

declare module '../../foundation/platform/catalogue' {
  interface SecurityEvents {
    'auth.email.verified': Verified;
  }
}

export const PROVED_EMAIL_EVENTS: LoggedEvents = {
  'auth.email.verified': {
    event: Verified,
    severity: 'info', // Only the default guard verifies email addresses.
    details: ({ user }, realms) => ({
      user_id: realms.default.get(UserProvider).idOf(user),
      guard: realms.default.realm.guard,
    }),
  },
};

/**
 * Reads and records which email addresses are verified, and which of them a person has proved: see {@link isProvedByPerson}. Both are
 * facts of the user: where this guard does not verify addresses, another guard with the same users is asked. Without one, no
 * address needs a verification.
 */
@Injectable()
export class ProvedEmails {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly events: AuthEvents,
    private readonly clock: Clock,
    private readonly deliveries: EmailDeliveries,
    private readonly realm: Realm,
    private readonly realms: Realms,
  ) {}

  /** Whether the user's email address still has to be verified. True if it is not known. */
  isMissing(user: object): Promise<boolean> {
    return this.ask(user, false, async ({ users }, same) => users.isEmailVerified(same) !== true);
  }

  /** Whether a person has proved the user's address. */
  isProved(user: object): Promise<boolean> {
    return this.ask(user, true, ({ users }, same) =>
      this.wasProved(users.idOf(same), users.emailOf(same), users.isEmailVerified(same) === true),
    );
  }

  /** Whether a person has proved an address that the user has now, or had before. */
  async wasProved(userId: string, email: string | null, isVerified: boolean): Promise<boolean> {
    const { verifying } = this;
    if (!verifying) return true;
    // A user who is marked as verified and has no address cannot be given to the owner of one.
    const isDeliveryOnly = isVerified && email !== null && (await verifying.deliveries.has(userId, email));
    return isProvedByPerson({ isVerified, isDeliveryOnly });
  }

  /** What is known of the recipient of a mail to the user's address. `person` where no address is verified. */
  async proofOf(user: object): Promise<EmailProof> {
    if (await this.isMissing(user)) return 'none';
    return (await this.isProved(user)) ? 'person' : 'delivery';
  }

  /**
   * Marks the address as verified by a link that was opened without a session of the user, if it is still the user's address
   * and was not verified. Returns whether it did so.
   */
  recordDelivery(user: object, email: string): Promise<boolean> {
    return this.ask(user, false, async (at, same) => {
      if (at.users.isEmailVerified(same) === true) return false;
      // Before the mark: the address must not count as proved after a failure between the two. A row for each request, because
      // another request with the link may set the mark, and needs its row.
      const id = await at.deliveries.add(at.users.idOf(same), email);
      const isMarked = await at.mark(same, email);
      if (!isMarked) await at.deliveries.remove([id]);
      return isMarked;
    });
  }

  /** Records that a person has proved the address, and marks it as verified if it is still the user's address. */
  recordPerson(user: object, email: string): Promise<void> {
    return this.ask(user, undefined, async (at, same) => {
      await at.mark(same, email);
      // After the mark: a request that opens the link at the same time cannot set it any more, and removes its row itself.
      await at.deliveries.removeAll(at.users.idOf(same), email);
    });
  }

  /** The time for an account that is created with a proved address. Undefined where this guard does not verify addresses. */
  timeOfCreation(): Date | undefined {
    return this.verifying === this ? new Date(this.clock.now()) : undefined;
  }

  /** Announces the address of an account that was created with {@link timeOfCreation}. False if the store has not kept it. */
  recordCreation(user: object): boolean {
    const isKept = this.verifying === this && this.users.isEmailVerified(user) === true;
    if (isKept) this.events.emit(new Verified(user));
    return isKept;
  }

  /** Records in a transaction that stores another address as verified whether a person has proved it. */
  async recordChange(sql: Sql, userId: string, email: string, isProved: boolean): Promise<void> {
    const deliveries = this.verifying?.deliveries;
    await (isProved ? deliveries?.removeAll(userId, email, sql) : deliveries?.add(userId, email, sql));
  }

  private async mark(user: object, email: string): Promise<boolean> {
    const changed = await this.users.markEmailVerified(this.users.idOf(user), email, new Date(this.clock.now()));
    if (changed) this.events.emit(new Verified(user));
    return changed;
  }

  /**
   * @param otherwise the answer where no address is verified, and for a user that does not exist any more
   * @param question gets the guard that verifies the user's address, and the user as that guard reads it
   */
  private async ask<T>(
    user: object,
    otherwise: T,
    question: (at: ProvedEmails, user: object) => Promise<T>,
  ): Promise<T> {
    const { verifying } = this;
    if (!verifying) return otherwise;
    // Another guard may have another class for the rows of the users.
    const same = verifying === this ? user : await verifying.users.findById(this.users.idOf(user));
    return same ? question(verifying, same) : otherwise;
  }

  /** This guard if it verifies addresses, or else another guard with the same users. */
  private get verifying(): ProvedEmails | undefined {
    const known = this.realm.source.names
      .map((name) => this.realms.get(name))
      .filter(({ realm }) => realm.options.facts.provesEmails)
      .map((scope) => scope.get(ProvedEmails))
      .filter(({ users }) => users.offers('markEmailVerified'));
    return known.find((emails) => emails === this) ?? known[0];
  }
}
