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

/** What an operator sees of an account. */
export interface OperatedAccount {
  readonly user: FoundUser;
  /** The property `createdAt` of the user, where that is a time. */
  readonly created_at: string | null;
  /** When the newest session that is kept was started. */
  readonly last_sign_in_at: string | null;
  readonly has_password: boolean;
  readonly suspension: ShownSuspension | null;
  readonly locks: readonly locking.ShownLock[];
  /** Those that have counted a failure. */
  readonly limits: readonly locking.ShownLimit[];
  readonly sessions: Awaited<ReturnType<session.SessionList['list']>>;
  /** Factors, passkeys, identities, devices and keys: the parts of the export of the account, and the number of codes that are left. */
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
    private readonly locks: locking.AccountLocks,
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
