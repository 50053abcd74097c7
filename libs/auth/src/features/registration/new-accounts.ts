import { Injectable, Logger } from '@nestjs/common';
import {
  Realm,
  RealmScope,
  SecurityStore,
  type Text,
  type data,
  deadline,
  errors,
  identity,
  input,
  type manifest,
  pg,
  session,
} from '../../kit';

declare module '../../foundation/realm/feature' {
  interface HookPoints {
    /**
     * The id of the user for whom an email is held, so that no other account is created with it; null for none. While it is on, an
     * email belongs to one account.
     */
    readonly identifierHeld?: (services: data.GuardServices, email: string) => Promise<string | null>;
  }
}

/** Seconds during which the user of a registration cannot be the result of another registration. */
const CLAIM_SECONDS = 3600;

/** A stored account. */
export interface CreatedAccount {
  /** Without its password hash. */
  readonly user: object;
  /** The hash that was stored, or null for none; undefined after `hooks.register`, which may store another one. */
  readonly digest: string | null | undefined;
}

/** Creates accounts, in the user store or with `hooks.register`. */
@Injectable()
export class NewAccounts {
  private readonly logger = new Logger('Auth');

  constructor(
    private readonly users: identity.TimedUserProvider,
    private readonly hasher: identity.PasswordHasher,
    private readonly provedEmails: identity.ProvedEmails,
    private readonly store: SecurityStore,
    private readonly database: pg.Database,
    private readonly realm: Realm,
    private readonly scope: RealmScope,
  ) {}

  /**
   * Creates an account.
   *
   * @param credential stored with the account, instead of a password: both or neither. Only with `hooks.register`, and with a
   * user store on another database, the account may exist without its credential after an error
   * @throws the refusal of the credential; IdentifierTaken, also when a concurrent request has taken the identifier; ValidationFailed if a
   * column of the users cannot contain a value; StoreUnavailable if `hooks.register` does not settle in time: it may still
   * create the account
   */
  async create(fields: session.AccountFields, credential?: session.AccountCredential): Promise<CreatedAccount> {
    const { hooks, username } = this.realm.options;
    const { known } = credential ?? {};
    const isKnown = known !== undefined && known.identifier === fields[username];
    if ((isKnown ? known.found : await this.lookUp(fields)).takenBy !== null)
      throw new session.IdentifierTaken(username);
    // Before the look-up of held emails: a change that is made meanwhile holds the email that is found here.
    const email = this.holders.length > 0 && username !== 'email' ? fields.email : null;
    if (typeof email === 'string' && (await this.users.lookUpEmail(email)).takenBy !== null)
      throw new session.IdentifierTaken('email');
    const held = await this.heldIn(fields);
    if (held) throw new session.IdentifierTaken(held.field);
    const created = await (hooks.register
      ? this.createByHook(fields, credential).then((user) => ({ user, digest: undefined }))
      : this.createInternally(fields, credential));
    const { user, digest } = created;
    if (!user) throw new session.IdentifierTaken(username);
    return { user: withoutHash(user), digest };
  }

  /**
   * Creates an account, or finds the one with the identifier. Both need the same queries and one hash, so that the time
   * does not show which of them happened. Neither does an error: after the look-up, only an unavailable store is reported,
   * and a credential whose id exists.
   *
   * @returns the new user or the owner of the identifier; neither if the account could not be created
   */
  async createOrFind(
    fields: session.AccountFields,
    credential?: session.AccountCredential,
  ): Promise<{ created?: object; owner?: object }> {
    const account = await this.accountOf(fields, credential);
    const { account: found, takenBy: owned } = await this.lookUp(fields);
    const owner = found?.user;
    const held = await this.heldIn(fields);
    const takenBy = owned ?? held?.userId ?? null;
    try {
      let created: object | null = null;
      if (credential) created = await this.createWithCredential(account, credential, takenBy);
      else if (takenBy === null) created = await this.users.create(account);
      else await this.users.imitateCreation(takenBy);
      // The account of a held address has another one now, so its owner gets no mail. Of several accounts with spellings of the
      // address, none gets one.
      if (takenBy !== null) return { owner };
      // Null: a concurrent request has taken the identifier.
      return created ? { created: withoutHash(created) } : { owner: (await this.lookUp(fields)).account?.user };
    } catch (error) {
      if (deadline.isUnavailable(error) || error === credential?.refusal) throw error;
      this.logger.error(
        'an account could not be created; the client got the answer of a success',
        (error as Error)?.stack,
      );
      return {};
    }
  }

  private async lookUp(fields: session.AccountFields): Promise<identity.LookUp> {
    const identifier = fields[this.realm.options.username];
    return typeof identifier === 'string' ? this.users.lookUp(identifier) : { account: null, takenBy: null };
  }

  private get holders(): NonNullable<manifest.HookPoints['identifierHeld']>[] {
    return this.scope.hooks('identifierHeld');
  }

  /** The field with an email that is held for another account. Null for none. */
  private async heldIn(fields: session.AccountFields): Promise<{ field: string; userId: string } | null> {
    for (const field of new Set([this.realm.options.username, 'email'])) {
      const email = fields[field];
      if (typeof email !== 'string') continue;
      for (const holderOf of this.holders) {
        const userId = await holderOf(this.scope, email);
        if (userId !== null) return { field, userId };
      }
    }
    return null;
  }

  private async createInternally(
    fields: session.AccountFields,
    credential?: session.AccountCredential,
  ): Promise<{ user: object | null; digest: string | null }> {
    const account = await this.accountOf(fields, credential);
    try {
      const user = await (credential ? this.createWithCredential(account, credential) : this.users.create(account));
      return { user, digest: account.passwordHash };
    } catch (error) {
      if (!pg.isUnstorable(error)) throw error;
      // PostgreSQL does not name the column.
      const invalid = (field: string): Text[] => [{ key: 'validation.invalid', params: { field: input.named(field) } }];
      const stored = ['name', this.realm.options.username];
      throw new errors.ValidationFailed(Object.fromEntries(stored.map((field) => [field, invalid(field)])));
    }
  }

  /**
   * @param takenBy the user to whom the identifier or the email belongs. Without one, a concurrent request may have taken it:
   * then null is returned
   */
  private async createWithCredential(
    account: identity.NewAccount,
    credential: session.AccountCredential,
    takenBy: string | null = null,
  ): Promise<object | null> {
    const made = takenBy === null && credential.row ? await this.users.createBeside(account, credential.row) : null;
    if (made === 'refused') throw credential.refusal;
    if (made) return made === 'taken' ? null : made.user;
    const id = await this.database.transaction(async (sql, manager) => {
      if (takenBy !== null) await this.users.imitateCreation(takenBy, manager);
      const user = takenBy === null ? await this.users.create(account, manager) : null;
      const userId = user && this.users.idOf(user);
      await credential.store(sql, userId);
      return userId;
    }, this.users.createsByHost);
    // For a taken identifier too, so that both need the same queries.
    const user = await this.users.findById(id ?? takenBy ?? '');
    return id === null ? null : user;
  }

  private async accountOf(
    fields: session.AccountFields,
    credential?: session.AccountCredential,
  ): Promise<identity.NewAccount> {
    const { name, [this.realm.options.username]: identifier, password } = fields;
    const hasSecret = credential !== undefined || typeof password === 'string';
    if (typeof name !== 'string' || typeof identifier !== 'string' || !hasSecret) {
      throw new errors.AuthConfigError(
        `hooks.registerRules leaves out name, ${this.realm.options.username} or password, which are needed to create ` +
          'an account. Add them, or create the account in hooks.register.',
      );
    }
    const passwordHash = credential ? null : await this.hasher.hash(password as string);
    const proves = credential?.proves ?? null;
    const isProved = proves !== null && identity.canonicalEmail(proves) === identifier;
    const emailVerifiedAt = isProved ? this.provedEmails.timeOfCreation() : undefined;
    return { name, identifier, passwordHash, ...(emailVerifiedAt && { emailVerifiedAt }) };
  }

  private async createByHook(
    fields: session.AccountFields,
    credential?: session.AccountCredential,
  ): Promise<object | null> {
    const { guard, options } = this.realm;
    const mark = await this.users.currentMark();
    const hash = (password: string): Promise<string> => this.hasher.hash(password);
    const created = await deadline.callHost('hooks.register', () => options.hooks.register!(fields, { guard, hash }));
    if (!created) return null;
    const user = await this.newUser(this.users.idOf(created), fields, mark);
    if (user) {
      if (credential) await this.database.transaction((sql) => credential.store(sql, this.users.idOf(user)));
      return user;
    }
    throw new errors.AuthConfigError(
      'hooks.register returned a user that it did not create with the submitted identifier. The client would be signed ' +
        'in as that user. Return a new user, or null if the identifier is taken.',
    );
  }

  /**
   * Returns the stored user if this request created it: it has the submitted identifier, was created after the mark, and
   * is not the result of another registration. All three checks are needed: the hook may return a user that a concurrent
   * registration created, or may give the identifier to an existing user.
   */
  private async newUser(id: string, fields: session.AccountFields, mark: string): Promise<object | null> {
    const user = await this.users.findById(id);
    if (!user || !this.hasIdentifier(user, fields[this.realm.options.username])) return null;
    if (!(await this.users.wasCreatedSince(id, mark))) return null;
    const claim = `svc:registered:${this.realm.source.key}:${id}`;
    const isFirst = await this.store.add(claim, 'true', CLAIM_SECONDS);
    // After a rollback, the user of a repeated registration may have the same id.
    if (isFirst) await deadline.outerTransaction()?.after('the end of a claim', () => this.store.take(claim), true);
    return isFirst ? user : null;
  }

  /** Whether the user has the submitted identifier. Without one in the rules, the hook chooses the identifier. */
  private hasIdentifier(user: object, submitted: unknown): boolean {
    if (typeof submitted !== 'string') return true;
    const [identifier, { username }] = [this.users.identifierOf(user), this.realm.options];
    return (
      identifier !== null && identity.comparedAs(username, identifier) === identity.comparedAs(username, submitted)
    );
  }
}

/** Removes the password hash that an entity may select, so that listeners and mail templates do not get it. */
function withoutHash(user: object): object {
  if (!Object.hasOwn(user, 'passwordHash')) return user;
  const { passwordHash: _, ...properties } = user as { passwordHash: unknown };
  return Object.assign(Object.create(Object.getPrototypeOf(user)), properties);
}
