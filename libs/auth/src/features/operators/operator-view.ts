import { Inject, Injectable } from '@nestjs/common';
import { RealmScope, SecurityStore, data, identity, locking, manifest, session } from '../../kit';
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

/** A limit on the failures of an account in a period, all clients together. */
export interface ShownLimit {
  readonly name: string;
  readonly failures: number;
  /** The number of failures that closes it. */
  readonly most: number;
  /** Seconds until the period ends. */
  readonly seconds: number;
}

/** What an operator sees of an account. */
export interface OperatedAccount {
  readonly user: FoundUser;
  /** The property `createdAt` of the user, where that is a time. */
  readonly created_at: string | null;
  /** When the newest session that is kept was started. */
  readonly last_sign_in_at: string | null;
  readonly has_password: boolean;
  readonly suspension: ShownSuspension | null;
  readonly locks: readonly ShownLock[];
  /** Those that have counted a failure. */
  readonly limits: readonly ShownLimit[];
  readonly sessions: Awaited<ReturnType<session.SessionList['list']>>;
  /** Factors, passkeys, identities, devices and keys: the parts of the export of the account, and the number of codes that are left. */
  readonly credentials: Readonly<Record<string, unknown>>;
}

/** The locks and the limits of one account. */
@Injectable()
export class AccountLocks {
  constructor(
    private readonly lockout: locking.AccountLockout,
    private readonly locks: locking.LoginLocks,
    private readonly limits: locking.FailureLimits,
    private readonly store: SecurityStore,
  ) {}

  async show(userId: string): Promise<Pick<OperatedAccount, 'locks' | 'limits'>> {
    const keys = await this.keysOf(userId);
    const [seconds, limits] = [
      await Promise.all(keys.map((key) => this.lockout.secondsLocked(key))),
      this.limits.ofAccount(keys, userId),
    ];
    const buckets = await Promise.all(limits.map((limit) => this.store.peek(limit)));
    return {
      locks: keys
        .map(({ purpose }, at) => ({ purpose, seconds: seconds[at]! }))
        .filter((lock) => lock.seconds > 0)
        .map((lock) => (Number.isFinite(lock.seconds) ? lock : { ...lock, seconds: null })),
      limits: limits
        .map(({ key, max: most }, at) => {
          const { counted: failures, secondsLeft } = buckets[at]!;
          return { name: key.split(':')[2]!, failures, most, seconds: Math.ceil(secondsLeft) };
        })
        .filter(({ failures }) => failures > 0),
    };
  }

  /** @param email of the account, whose mailed codes have a counter as well; null without one */
  async release(userId: string, email: string | null): Promise<void> {
    const keys = await this.keysOf(userId);
    await this.lockout.release([...keys, ...(email === null ? [] : [locking.mailLock(email)])]);
    // A client that has failed too often waits for the rest of its minute.
    for (const limit of this.limits.ofAccount(keys, userId)) await this.store.settle([limit], 'succeeded');
  }

  /** The counters of failures that can lock a user. */
  private async keysOf(userId: string): Promise<locking.LockKey[]> {
    const ofUser = locking.USER_PURPOSES.map((purpose) => locking.userLock(purpose, userId));
    return [...(await this.locks.ofUserId(userId)), ...ofUser];
  }
}

/** The features whose parts of the export are not read: they are members of their own, and the history has pages. */
const SHOWN_APART = ['sessions', 'operatedAccounts', 'audit'];

/** Shows the accounts of one guard to operators. Reads no secret, hash or key. */
@Injectable()
export class OperatorView {
  constructor(
    private readonly users: identity.TimedUserProvider,
    private readonly suspensions: Suspensions,
    private readonly locks: AccountLocks,
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
    const { createdAt } = user as { createdAt?: unknown };
    const [suspension, held, sessions, lastSignIn, hash, exported, ...facts] = await Promise.all([
      this.suspensions.find(userId),
      this.locks.show(userId),
      this.sessions.list(userId, null),
      this.sessions.lastSignIn(userId),
      this.users.passwordHashOf(userId),
      data.exportOf(
        this.manifests.filter(({ name }) => !SHOWN_APART.includes(name)),
        this.scope,
        userId,
      ),
      ...this.scope.hooks('credentialFacts').map((read) => read(this.scope, userId)),
    ]);
    return {
      user: this.describe(user),
      created_at: createdAt instanceof Date ? createdAt.toISOString() : null,
      last_sign_in_at: lastSignIn,
      has_password: hash !== null,
      suspension,
      ...held,
      sessions,
      credentials: Object.assign({}, exported, ...facts),
    };
  }

  private describe(user: object): FoundUser {
    return {
      id: this.users.publicIdOf(user),
      identifier: this.users.identifierOf(user),
      email: this.users.emailOf(user),
      email_verified: this.users.isEmailVerified(user),
    };
  }
}
