import { Injectable } from '@nestjs/common';
import { AuthConfigError } from '../../foundation/platform/errors';
import { PasswordHasher } from '../../identity/password/password-hasher';
import { Realm } from '../../foundation/realm/realm';
import { SecurityStore } from '../../foundation/security-store/security-store';
import { foldedIdentifier } from '../../identity/users/identifiers';
import { IdentifierTaken, type RegistrationFields } from './registration-form';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';

/** Seconds in which a user that was registered cannot be registered once more. */
const CLAIM_SECONDS = 3600;

/** Creates accounts, or has the host create them. */
@Injectable()
export class NewAccounts {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly hasher: PasswordHasher,
    private readonly store: SecurityStore,
    private readonly realm: Realm,
  ) {}

  /**
   * The account as it is stored; no object of the host's goes any further, and no hash.
   *
   * @throws IdentifierTaken, also where another request was faster
   */
  async create(fields: RegistrationFields): Promise<object> {
    const { hooks, username } = this.realm.options;
    const user = await (hooks.register ? this.createByHook(fields) : this.createInternally(fields));
    if (!user) throw new IdentifierTaken(username);
    return withoutHash(user);
  }

  private async createInternally(fields: RegistrationFields): Promise<object | null> {
    const { name, [this.realm.options.username]: identifier, password } = fields;
    if (typeof name !== 'string' || typeof identifier !== 'string' || typeof password !== 'string') {
      throw new AuthConfigError(
        `hooks.registerRules leaves out name, ${this.realm.options.username} or password, which an account is ` +
          'created from. Add them, or create it in hooks.register.',
      );
    }
    const passwordHash = await this.hasher.hash(password);
    return this.users.create({ name, identifier, passwordHash });
  }

  private async createByHook(fields: RegistrationFields): Promise<object | null> {
    const { guard, options } = this.realm;
    const mark = await this.users.currentMark();
    const made = await options.hooks.register!(fields, { guard });
    if (!made) return null;
    const user = await this.ofThisForm(this.users.idOf(made), fields, mark);
    if (user) return user;
    throw new AuthConfigError(
      'hooks.register returned a user that it did not create with the submitted identifier. Whoever registers is ' +
        'signed in as that user: return a new one, or null where the identifier is taken.',
    );
  }

  /**
   * The stored user, if it is what this form made: with its identifier, created since the mark, and registered by
   * nobody else. Neither alone will do: a callback may hand over a user of another form that is being created at
   * this moment, or give the identifier to a user that was there before.
   */
  private async ofThisForm(id: string, fields: RegistrationFields, mark: string): Promise<object | null> {
    const user = await this.users.findById(id);
    if (!user || !this.isNamed(user, fields[this.realm.options.username])) return null;
    if (!(await this.users.wasCreatedSince(id, mark))) return null;
    const isFirst = await this.store.add(`svc:registered:${this.realm.guard}:${id}`, 'true', CLAIM_SECONDS);
    return isFirst ? user : null;
  }

  /** Where the rules ask for no identifier, the callback gives one. */
  private isNamed(user: object, submitted: unknown): boolean {
    if (typeof submitted !== 'string') return true;
    const identifier = this.users.identifierOf(user);
    return identifier !== null && foldedIdentifier(identifier) === foldedIdentifier(submitted);
  }
}

/** An entity may select its hash; listeners and mail templates have no use for it. */
function withoutHash(user: object): object {
  if (!Object.hasOwn(user, 'passwordHash')) return user;
  const { passwordHash: _, ...properties } = user as { passwordHash: unknown };
  return Object.assign(Object.create(Object.getPrototypeOf(user)), properties);
}
