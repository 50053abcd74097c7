import { Injectable } from '@nestjs/common';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { Clock } from '../../foundation/platform/clock';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';

/**
 * A user proved that the email address is theirs. Emitted once per address.
 *
 * @publicApi
 */
export class Verified {
  /** @param user as read before: not verified yet */
  constructor(readonly user: object) {}
}

/** Which addresses were proved by a mail that reached them. */
export abstract class VerifiedEmails {
  /** Whether nobody has proved the user's address yet, as this user was read. */
  abstract isMissing(user: object): boolean;

  /** Notes the proof of an address, if it is still the user's and lacked one, and says whether it did. */
  abstract record(user: object, email: string): Promise<boolean>;
}

/** The proofs that the users of the realm keep. */
@Injectable()
export class StoredVerifiedEmails extends VerifiedEmails {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly events: AuthEvents,
    private readonly clock: Clock,
  ) {
    super();
  }

  isMissing(user: object): boolean {
    return this.users.isEmailVerified(user) === false;
  }

  async record(user: object, email: string): Promise<boolean> {
    const changed = await this.users.markEmailVerified(this.users.idOf(user), email, new Date(this.clock.now()));
    if (changed) this.events.emit(new Verified(user));
    return changed;
  }
}

/** Stands in when `features.emailVerification` is off: no address asks for a proof. */
@Injectable()
export class NoVerifiedEmails extends VerifiedEmails {
  isMissing(): boolean {
    return false;
  }

  async record(): Promise<boolean> {
    return false;
  }
}
