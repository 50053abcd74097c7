import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../config/auth-config';
import { AuthConfigError } from '../kernel/auth.exception';
import { PasswordHasher } from '../password/password-hasher';
import { Realm } from '../realm/realm';
import { SecurityStore } from '../security-store/security-store';
import { UserProvider } from '../users/user-provider';
import { IdentifierTaken } from './identifier-taken.exception';
import type { RegistrationFields } from './registration-form';

/** Seconds in which a user that was registered cannot be registered once more. */
const CLAIM_SECONDS = 3600;

/** Creates accounts, or has the host create them. */
@Injectable()
export class NewAccounts {
  constructor(
    private readonly users: UserProvider,
    private readonly hasher: PasswordHasher,
    private readonly store: SecurityStore,
    private readonly realm: Realm,
    @Inject(AUTH_CONFIG) { routes }: AuthConfig,
  ) {
    if (routes && realm.options.isDefault) this.refuseUsers();
  }

  /** @throws IdentifierTaken, also where another request was faster */
  async create(fields: RegistrationFields): Promise<object> {
    const { hooks, username } = this.realm.options;
    const user = await (hooks.register ? this.byHost(fields) : this.byUs(fields));
    if (!user) throw new IdentifierTaken(username);
    return user;
  }

  private async byUs(fields: RegistrationFields): Promise<object | null> {
    const { name, [this.realm.options.username]: identifier, password } = fields;
    if (typeof name !== 'string' || typeof identifier !== 'string' || typeof password !== 'string') {
      throw new AuthConfigError(
        `hooks.registerRules leaves out name, ${this.realm.options.username} or password, which an account is ` +
          'created from. Add them, or create it in hooks.register.',
      );
    }
    return this.users.create({ name, identifier, passwordHash: await this.hasher.hash(password) });
  }

  private async byHost(fields: RegistrationFields): Promise<object | null> {
    const { guard, options } = this.realm;
    const mark = await this.users.mark();
    const user = await options.hooks.register!(fields, { guard });
    if (!user || (mark !== null && (await this.isNew(user, mark)))) return user;
    throw new AuthConfigError(
      'hooks.register returned a user that it did not create. Whoever registers is signed in as that user: return ' +
        'a new one, or null where the identifier is taken.',
    );
  }

  /** Created since the mark, and by no other registration: the first of those that are given one user has it. */
  private async isNew(user: object, mark: string): Promise<boolean> {
    const id = this.users.idOf(user);
    if (!(await this.users.findById(id)) || !(await this.users.isNewerThan(id, mark))) return false;
    return this.store.add(`svc:registered:${this.realm.guard}:${id}`, 'true', CLAIM_SECONDS);
  }

  private refuseUsers(): void {
    const { guard, options } = this.realm;
    const tells = this.users.isNewerThan !== UserProvider.prototype.isNewerThan;
    if (options.hooks.register ? tells : this.users.createsAccounts()) return;
    throw new AuthConfigError(
      options.hooks.register
        ? `hooks.register needs users that tell new accounts from others. Implement mark and isNewerThan in the UserProvider of the guard "${guard}".`
        : `features.registration is on, but the users of the guard "${guard}" cannot be created. Give the entity a ` +
            'column name, implement createsAccounts and create in your UserProvider, or set hooks.register.',
    );
  }
}
