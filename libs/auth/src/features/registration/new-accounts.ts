import { Injectable, Logger } from '@nestjs/common';
import { callHost, isUnavailable } from '../../foundation/platform/deadline';
import { AuthConfigError } from '../../foundation/platform/errors';
import type { NewAccount } from '../../foundation/ports/user-provider';
import { PasswordHasher } from '../../identity/password/password-hasher';
import { Realm } from '../../foundation/realm/realm';
import { SecurityStore } from '../../foundation/security-store/security-store';
import { foldedIdentifier } from '../../identity/users/identifiers';
import { HeldEmails } from '../email-change/held-emails';
import { IdentifierTaken, type RegistrationFields } from './registration-form';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';

/** Seconds during which the user of a registration cannot be the result of another registration. */
const CLAIM_SECONDS = 3600;

/** Creates accounts, in the user store or with `hooks.register`. */
@Injectable()
export class NewAccounts {
  private readonly logger = new Logger('Auth');

  constructor(
    private readonly users: TimedUserProvider,
    private readonly hasher: PasswordHasher,
    private readonly store: SecurityStore,
    private readonly heldEmails: HeldEmails,
    private readonly realm: Realm,
  ) {}

  /**
   * Creates an account, and returns the stored user without its password hash.
   *
   * @throws IdentifierTaken, also when a concurrent request has taken the identifier; StoreUnavailable if
   * `hooks.register` does not settle in time: it may still create the account
   */
  async create(fields: RegistrationFields): Promise<object> {
    const { hooks, username } = this.realm.options;
    if (await this.ownerOf(fields)) throw new IdentifierTaken(username);
    const held = await this.heldIn(fields);
    if (held) throw new IdentifierTaken(held.field);
    const user = await (hooks.register ? this.createByHook(fields) : this.createInternally(fields));
    if (!user) throw new IdentifierTaken(username);
    return withoutHash(user);
  }

  /**
   * Creates an account, or finds the one with the identifier. Both need the same queries and one hash, so that the time
   * does not show which of them happened. Neither does an error: after the look-up, only an unavailable store is reported.
   *
   * @returns the new user or the owner of the identifier; neither if the account could not be created
   */
  async createOrFind(fields: RegistrationFields): Promise<{ created?: object; owner?: object }> {
    const account = await this.accountOf(fields);
    const owner = await this.ownerOf(fields);
    const held = await this.heldIn(fields);
    try {
      if (owner || held) {
        await this.users.imitateCreation(owner ? this.users.idOf(owner) : held!.userId);
        // The account of a held address has another one now, so its owner gets no mail.
        return owner ? { owner } : {};
      }
      const created = await this.users.create(account);
      // Null: a concurrent request has taken the identifier.
      return created ? { created: withoutHash(created) } : { owner: (await this.ownerOf(fields)) ?? undefined };
    } catch (error) {
      if (isUnavailable(error)) throw error;
      this.logger.error(
        'an account could not be created; the client got the answer of a success',
        (error as Error)?.stack,
      );
      return {};
    }
  }

  private async ownerOf(fields: RegistrationFields): Promise<object | null> {
    const identifier = fields[this.realm.options.username];
    return typeof identifier === 'string' ? ((await this.users.findByIdentifier(identifier))?.user ?? null) : null;
  }

  /** The field with an email that is held for its former account: see {@link HeldEmails}. Null for none. */
  private async heldIn(fields: RegistrationFields): Promise<{ field: string; userId: string } | null> {
    for (const field of new Set([this.realm.options.username, 'email'])) {
      const email = fields[field];
      const userId = typeof email === 'string' ? await this.heldEmails.holderOf(email) : null;
      if (userId !== null) return { field, userId };
    }
    return null;
  }

  private async createInternally(fields: RegistrationFields): Promise<object | null> {
    return this.users.create(await this.accountOf(fields));
  }

  private async accountOf(fields: RegistrationFields): Promise<NewAccount> {
    const { name, [this.realm.options.username]: identifier, password } = fields;
    if (typeof name !== 'string' || typeof identifier !== 'string' || typeof password !== 'string') {
      throw new AuthConfigError(
        `hooks.registerRules leaves out name, ${this.realm.options.username} or password, which are needed to create ` +
          'an account. Add them, or create the account in hooks.register.',
      );
    }
    const passwordHash = await this.hasher.hash(password);
    return { name, identifier, passwordHash };
  }

  private async createByHook(fields: RegistrationFields): Promise<object | null> {
    const { guard, options } = this.realm;
    const mark = await this.users.currentMark();
    const created = await callHost('hooks.register', () => options.hooks.register!(fields, { guard }));
    if (!created) return null;
    const user = await this.newUser(this.users.idOf(created), fields, mark);
    if (user) return user;
    throw new AuthConfigError(
      'hooks.register returned a user that it did not create with the submitted identifier. The client would be signed ' +
        'in as that user. Return a new user, or null if the identifier is taken.',
    );
  }

  /**
   * Returns the stored user if this request created it: it has the submitted identifier, was created after the mark, and
   * is not the result of another registration. All three checks are needed: the hook may return a user that a concurrent
   * registration created, or may give the identifier to an existing user.
   */
  private async newUser(id: string, fields: RegistrationFields, mark: string): Promise<object | null> {
    const user = await this.users.findById(id);
    if (!user || !this.hasIdentifier(user, fields[this.realm.options.username])) return null;
    if (!(await this.users.wasCreatedSince(id, mark))) return null;
    const isFirst = await this.store.add(`svc:registered:${this.realm.guard}:${id}`, 'true', CLAIM_SECONDS);
    return isFirst ? user : null;
  }

  /** Whether the user has the submitted identifier. Without one in the rules, the hook chooses the identifier. */
  private hasIdentifier(user: object, submitted: unknown): boolean {
    if (typeof submitted !== 'string') return true;
    const identifier = this.users.identifierOf(user);
    return identifier !== null && foldedIdentifier(identifier) === foldedIdentifier(submitted);
  }
}

/** Removes the password hash that an entity may select, so that listeners and mail templates do not get it. */
function withoutHash(user: object): object {
  if (!Object.hasOwn(user, 'passwordHash')) return user;
  const { passwordHash: _, ...properties } = user as { passwordHash: unknown };
  return Object.assign(Object.create(Object.getPrototypeOf(user)), properties);
}
