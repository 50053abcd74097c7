import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { isUnavailable, withTimeout } from '../../foundation/platform/deadline';
import { AuthConfigError } from '../../foundation/platform/errors';
import { Realm } from '../../foundation/realm/realm';
import { accountAmong, canonicalEmail, keptAs, emailSpellings, foldedIdentifier } from './identifiers';
import type { CreatedBeside, RowBeside } from './typeorm-accounts';
import { TypeormUserProvider } from './typeorm-user-provider';
import { type NewAccount, type StoredCredentials, UserProvider } from '../../foundation/ports/user-provider';

/** An address that no account has: `invalid` is no domain (RFC 6761 §6.4). */
const NO_ADDRESS = 'none@invalid';

/** The longest wait of the start for the first answer of a user store, in milliseconds: as long as for Redis. */
const FIRST_ANSWER_MS = 5000;

/** The account to which a mail for an address goes. */
export interface MailedAccount {
  readonly user: object;
  readonly userId: string;
  /** The stored address. Its spelling may differ from the submitted one. */
  readonly email: string;
  /** The identifier for the login: the email, or another value. */
  readonly identifier: string | null;
}

/** What a look-up of an identifier or of an email has found. */
export interface LookUp {
  /** The account that it names; null for none, and for several without the submitted spelling. */
  readonly account: StoredCredentials | null;
  /** The id of a user with a spelling of it; null for none. A new account cannot have it. */
  readonly takenBy: string | null;
}

/** The calls of the provider that may wait for a store. */
const ASKED = [
  'findById',
  'passwordHashOf',
  'create',
  'imitateCreation',
  'currentMark',
  'wasCreatedSince',
  'markEmailVerified',
  'changeEmail',
  'changeIdentifier',
  'secondFactorOf',
  'replaceSecondFactor',
] as const;

/** The texts for which a provider without `findByEmails` is asked: the canonical form, and the one in lower case as it was typed. */
const textsOf = (address: string): string[] => [...new Set([canonicalEmail(address), foldedIdentifier(address)])];

/**
 * For `catch`: null where nothing was asked for. A provider of the host may be unable to read an empty id, and the answer must not show
 * that there is no account.
 */
export const nullWithout =
  (asked: unknown) =>
  (error: unknown): null => {
    if (asked !== null || isUnavailable(error)) throw error;
    return null;
  };

/** The calls that only read an object in memory. */
const READ = ['idOf', 'publicIdOf', 'identifierOf', 'emailOf', 'isEmailVerified', 'offers'] as const;

type Call = (...args: unknown[]) => unknown;

/** A feature calls a method of an optional port only where the provider offers it, which is checked at boot. */
type Calls = Required<Pick<UserProvider, (typeof ASKED | typeof READ)[number]>>;

/**
 * Calls the realm's user provider with a time limit on every call to a store: `storeTimeoutMs`, less the time that the
 * request has already waited.
 *
 * Deletion and pruning call the provider directly: their transactions and sweeps have their own time limits.
 *
 * @throws StoreUnavailable if the store does not answer in time or cannot be reached
 */
@Injectable()
export class TimedUserProvider extends (Object as unknown as new () => Calls) implements OnApplicationBootstrap {
  constructor(
    private readonly provider: UserProvider,
    private readonly realm: Realm,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {
    super();
    const [own, port] = [this, provider] as unknown as Record<string, Call>[];
    for (const name of READ) own![name] = (...args) => port![name]!(...args);
    for (const name of ASKED) own![name] = (...args) => this.timed(async () => port![name]!(...args));
  }

  /**
   * Asks the store of the host once before the application listens. A store such as Prisma loads its engine and connects at
   * its first query, which takes longer than a request waits: the first logins after a start would get 503. An application
   * whose store fails or does not answer starts nevertheless. One whose tables do not fit does not: Prisma knows them first here.
   */
  async onApplicationBootstrap(): Promise<void> {
    if (this.provider instanceof TypeormUserProvider) return;
    const asked = (async () => this.provider.findByIdentifier(NO_ADDRESS))();
    await withTimeout('The user store', FIRST_ANSWER_MS, asked).catch((error: unknown) => {
      if (error instanceof AuthConfigError) throw error;
    });
  }

  /** The spelling of an identifier that the look-up compares: see {@link UserProvider.comparedForm}. Empty for a blank one. */
  spellingOf(identifier: string): string {
    const given = identifier.trim();
    const kept = given && keptAs(this.realm.options.username, given);
    return kept && (this.provider.comparedForm(kept) ?? kept);
  }

  /** The account with this identifier, with its password hash: see {@link UserProvider.findByIdentifier}. */
  async findByIdentifier(identifier: string): Promise<StoredCredentials | null> {
    return (await this.lookUp(identifier)).account;
  }

  /** The user with this email: see {@link UserProvider.findByEmail}. */
  async findByEmail(email: string): Promise<object | null> {
    return (await this.lookUpEmail(email)).account?.user ?? null;
  }

  async lookUp(identifier: string): Promise<LookUp> {
    if (this.realm.options.username === 'email' && this.offers('findByEmails')) return this.lookUpEmail(identifier);
    const { username } = this.realm.options;
    const texts = username === 'email' ? textsOf(identifier) : [keptAs(username, identifier)];
    return this.found(await this.askedFor(texts, (text) => this.provider.findByIdentifier(text)), identifier);
  }

  /** The number of statements is the same for every address, and that of spellings depends on the submitted text alone. */
  async lookUpEmail(address: string): Promise<LookUp> {
    if (this.offers('findByEmails'))
      return this.found(await this.timed(async () => this.provider.findByEmails!(emailSpellings(address))), address);
    const find = async (text: string): Promise<StoredCredentials | null> => {
      const user = await this.provider.findByEmail(text);
      return user && { user, passwordHash: null };
    };
    return this.found(await this.askedFor(textsOf(address), find), address);
  }

  /** The different users whom the provider finds by these texts. */
  private async askedFor(
    texts: readonly string[],
    find: (text: string) => Promise<StoredCredentials | null>,
  ): Promise<StoredCredentials[]> {
    const found = await Promise.all(texts.map((text) => this.timed(() => find(text))));
    const rows = found.flatMap((row) => (row ? [[this.idOf(row.user), row] as const] : []));
    return [...new Map(rows).values()];
  }

  private found(rows: readonly StoredCredentials[], submitted: string): LookUp {
    const account = accountAmong(rows, submitted, ({ user }) => this.emailOf(user));
    const first = account ?? rows[0];
    return { account, takenBy: first ? this.idOf(first.user) : null };
  }

  /** The account to which a mail for an address goes; null for none. */
  async mailedAccount(address: string): Promise<MailedAccount | null> {
    return this.mailed(await this.findByEmail(address));
  }

  /** The account of a user, for a mail; null for one that does not exist any more, and for one without an address. */
  async mailedUser(id: string): Promise<MailedAccount | null> {
    return this.mailed(await this.findById(id));
  }

  private mailed(user: object | null): MailedAccount | null {
    const email = user && this.emailOf(user);
    return user && email ? { user, userId: this.idOf(user), email, identifier: this.identifierOf(user) } : null;
  }

  /** The password hash of an account. The same look-up without one: the time must not show whether there is an account. */
  passwordHashOfMailed(account: MailedAccount | null): Promise<string | null> {
    return this.passwordHashOf(account?.userId ?? '').catch(nullWithout(account));
  }

  /** A user with the password hash. The same look-ups without an id: the time must not show whether there is one. */
  async credentialsOf(id: string | null): Promise<StoredCredentials | null> {
    const asked = [this.findById(id ?? ''), this.passwordHashOf(id ?? '')] as const;
    const [user, passwordHash] = (await Promise.all(asked).catch(nullWithout(id))) ?? [null, null];
    return user && { user, passwordHash };
  }

  /**
   * Throws if the user store does not answer. The same look-up for every request: one of a requested address would take longer if
   * it has an account.
   *
   * @throws StoreUnavailable
   */
  async requireAnswer(): Promise<void> {
    await this.findByEmail(NO_ADDRESS);
  }

  /** Whether the hash was stored. If the provider returns no result, the stored hash is read and compared. */
  async savePasswordHash(id: string, passwordHash: string, replacing?: string | null): Promise<boolean> {
    const isStored = await this.timed(async () => this.provider.savePasswordHash(id, passwordHash, replacing));
    return isStored ?? (await this.passwordHashOf(id)) === passwordHash;
  }

  /** Creates an account with a row of the library in one statement; null where the store cannot: see `TypeOrmAccounts.createBeside`. */
  async createBeside(account: NewAccount, row: RowBeside): Promise<CreatedBeside<object> | null> {
    const { provider } = this;
    // Code of the host may take the place of `create`.
    const isOurs = provider instanceof TypeormUserProvider && provider.create === TypeormUserProvider.prototype.create;
    return isOurs ? this.timed(() => provider.createBeside(account, row)) : null;
  }

  /** Whether {@link create} may call code of the host, so that it must not be repeated after a conflict. */
  get createsByHost(): boolean {
    return !(this.provider instanceof TypeormUserProvider) || this.provider.callsHost;
  }

  /** `ask` is an `async` function, which turns a synchronous exception of the provider into a rejection. */
  private timed<T>(ask: () => Promise<T>): Promise<T> {
    return withTimeout('The user store', this.config.storeTimeoutMs, ask());
  }
}
