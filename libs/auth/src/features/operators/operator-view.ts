import { Inject, Injectable } from '@nestjs/common';
import { RealmScope, data, identity, locking, manifest, session } from '../../kit';
import { UserNotFound } from './operators.errors';
import { type ShownSuspension, Suspensions } from './suspension';

/** A user as an operator finds it. */
export interface FoundUser {
  readonly id: string | number;
  readonly identifier: string | null;
  readonly email: string | null;
  /** Null when the users of the guard have no email verification. */
  readonly email_verified: boolean | null;
}

/** A lock after failed attempts. */
export interface ShownLock {
  readonly purpose: locking.LockKey['purpose'];
  /** Seconds until it ends; null for one that ends only when it is released. */
  readonly seconds: number | null;
}

/** What an operator sees of an account. */
export interface OperatedAccount {
  readonly user: FoundUser;
  readonly suspension: ShownSuspension | null;
  readonly locks: readonly ShownLock[];
  readonly sessions: Awaited<ReturnType<session.SessionList['list']>>;
  /** Factors, passkeys, identities, devices and keys: the parts of the export of the account, without sessions. */
  readonly credentials: Readonly<Record<string, unknown>>;
}

/** The features whose parts of the export are not read: they are members of their own, and the history has pages. */
const SHOWN_APART = ['sessions', 'operatedAccounts', 'audit'];

/** Shows the accounts of one guard to operators. Reads no secret, hash or key. */
@Injectable()
export class OperatorView {
  constructor(
    private readonly users: identity.TimedUserProvider,
    private readonly suspensions: Suspensions,
    private readonly lockout: locking.AccountLockout,
    private readonly locks: locking.LoginLocks,
    private readonly sessions: session.SessionList,
    private readonly scope: RealmScope,
    @Inject(manifest.MANIFESTS) private readonly manifests: readonly manifest.Feature[],
  ) {}

  /** The users with an identifier, or an email; one user at most by each. */
  async find(text: string): Promise<FoundUser[]> {
    const [named, mailed] = await Promise.all([this.users.findByIdentifier(text), this.users.mailedAccount(text)]);
    const found = [named?.user, mailed?.user].filter((user) => user !== undefined);
    return [...new Map(found.map((user) => [this.users.idOf(user), this.describe(user)])).values()];
  }

  /** Whether a text is the id of a user. */
  async exists(id: string): Promise<boolean> {
    return (await this.users.findById(id)) !== null;
  }

  /** @throws UserNotFound */
  async show(userId: string): Promise<OperatedAccount> {
    const user = await this.users.findById(userId);
    if (!user) throw new UserNotFound();
    const [suspension, locks, sessions, exported] = await Promise.all([
      this.suspensions.find(userId),
      this.locksOf(userId),
      this.sessions.list(userId, null),
      data.exportOf(
        this.manifests.filter(({ name }) => !SHOWN_APART.includes(name)),
        this.scope,
        userId,
      ),
    ]);
    return { user: this.describe(user), suspension, locks, sessions, credentials: { ...exported } };
  }

  private describe(user: object): FoundUser {
    return {
      id: this.users.publicIdOf(user),
      identifier: this.users.identifierOf(user),
      email: this.users.emailOf(user),
      email_verified: this.users.isEmailVerified(user),
    };
  }

  private async locksOf(userId: string): Promise<ShownLock[]> {
    const held = await Promise.all(
      (await keysOf(this.locks, userId)).map(async (key) => ({
        purpose: key.purpose,
        seconds: await this.lockout.secondsLocked(key),
      })),
    );
    const active = held.filter(({ seconds }) => seconds > 0);
    return active.map(({ purpose, seconds }) => ({ purpose, seconds: Number.isFinite(seconds) ? seconds : null }));
  }
}

/** The counters of failures that can lock a user. */
export const keysOf = async (locks: locking.LoginLocks, userId: string): Promise<locking.LockKey[]> => [
  ...(await locks.ofUserId(userId)),
  ...locking.USER_PURPOSES.map((purpose) => locking.userLock(purpose, userId)),
];
