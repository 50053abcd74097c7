import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../config/auth-config';
import { ownField } from '../http/own-field';
import { FIELD_MAX } from '../http/fields';
import { AuthConfigError, ValidationFailed } from '../kernel/auth.exception';
import type { Text } from '../kernel/messages';
import { answered } from '../kernel/unavailable';
import { PasswordRules } from '../password/password-rules';
import { Realm } from '../realm/realm';
import { keptAs } from '../users/normalized-identifier';
import { UserProvider } from '../users/user-provider';
import { fieldFault } from './registration-field';
import { IdentifierTaken } from './identifier-taken.exception';
import type { RegistrationField, RegistrationRules } from './registration-rules';

/** What the rules declared of a body, and nothing else of it. */
export type RegistrationFields = Readonly<Record<string, unknown>>;

/** Reads the body of `POST /register`. No field that the rules do not name goes any further. */
@Injectable()
export class RegistrationForm {
  constructor(
    private readonly passwords: PasswordRules,
    private readonly users: UserProvider,
    private readonly realm: Realm,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  /** @throws ValidationFailed, IdentifierTaken */
  async read(request: { body?: unknown }): Promise<RegistrationFields> {
    const rules = Object.entries(this.rules(request));
    const fields = Object.fromEntries(rules.map(([name]) => [name, kept(name, ownField(request.body, name))]));
    await this.refuseFaults(rules, fields);
    const { username } = this.realm.options;
    const [identifier, password] = [textIn(fields[username]), textIn(fields.password)];
    if (password !== null) {
      const confirmation = textIn(ownField(request.body, 'password_confirmation'));
      const wanted = { password, password_confirmation: confirmation };
      await this.passwords.accept(wanted, [identifier, textIn(fields.email)]);
    }
    if (identifier !== null && (await this.isTaken(identifier))) throw new IdentifierTaken(username);
    return fields;
  }

  /** What a request has to bring. @throws AuthConfigError, and whatever `hooks.registerRules` does */
  rules(request: object): RegistrationRules {
    const { hooks, username } = this.realm.options;
    const rules = hooks.registerRules?.(request);
    if (!rules) return { name: {}, [username]: { email: username === 'email' }, password: {} };
    for (const name of [username, 'password'].filter((one) => Object.hasOwn(rules, one))) {
      const { type = 'string', optional = false } = rules[name]!;
      if (type === 'string' && !optional) continue;
      throw new AuthConfigError(
        `hooks.registerRules makes ${name} optional or no text, so that it could pass without being judged. Leave ` +
          'type and optional away, or leave the field out.',
      );
    }
    return rules;
  }

  private async refuseFaults(rules: [string, RegistrationField][], fields: RegistrationFields): Promise<void> {
    const errors: Record<string, Text[]> = {};
    for (const [name, rule] of rules) {
      const value = fields[name];
      const refused = async (): Promise<boolean> => value !== null && (await rule.check?.(value, fields)) === false;
      const fault = fieldFault(value, rule, name === 'password') ?? ((await refused()) ? 'validation.invalid' : null);
      const params = { field: name.replaceAll('_', ' '), max: rule.maxLength ?? FIELD_MAX };
      if (fault) errors[name] = [{ key: fault, params }];
    }
    if (Object.keys(errors).length) throw new ValidationFailed(errors);
  }

  private async isTaken(identifier: string): Promise<boolean> {
    const found = this.users.findByIdentifier(identifier);
    return (await answered('The user store', this.config.storeTimeoutMs, found)) !== null;
  }
}

const kept = (name: string, value: unknown): unknown => (typeof value === 'string' ? keptAs(name, value) : value);

const textIn = (value: unknown): string | null => (typeof value === 'string' ? value : null);
