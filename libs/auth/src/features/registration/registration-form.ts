import { Injectable } from '@nestjs/common';
import type { RegistrationField, RegistrationRules } from '../../foundation/config/registration-rules';
import { AuthConfigError, AuthException, ValidationFailed } from '../../foundation/platform/errors';
import type { MessageKey, Text } from '../../foundation/platform/messages';
import { Realm } from '../../foundation/realm/realm';
import { PasswordRules } from '../../identity/password/password-rules';
import { keptAs } from '../../identity/users/identifiers';
import { FIELD_MAX, isEmailAddress, isLongerThan, ownField } from '../../request/http/request-body';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';

/**
 * Returns the fault of a field's value, or null. {@link RegistrationField.check} and the password rules are applied
 * separately; the password rules refuse NUL.
 */
export function fieldFault(value: unknown, rule: RegistrationField, isPassword = false): MessageKey | null {
  const { optional = false, type = 'string', maxLength = FIELD_MAX, email = false } = rule;
  if (value === null) return optional ? null : 'validation.required';
  if (typeof value !== type) return type === 'string' ? 'validation.string' : 'validation.invalid';
  if (typeof value !== 'string') return Number.isFinite(value) || type === 'boolean' ? null : 'validation.invalid';
  if (isLongerThan(value, maxLength)) return 'validation.max_length';
  if (email && !isEmailAddress(value)) return 'validation.email';
  // PostgreSQL cannot store NUL in a text. For a password, the password rules check it.
  return value.includes('\0') && !isPassword ? 'validation.invalid' : null;
}

/** An account with this identifier exists: 422 under the field of the identifier. */
export class IdentifierTaken extends AuthException {
  constructor(field: string) {
    const params = { field: field.replaceAll('_', ' ') };
    super('identifier_taken', { status: 422, errors: { [field]: [{ key: 'validation.taken', params }] } });
  }
}

/** The fields of a body that the rules declare. */
export type RegistrationFields = Readonly<Record<string, unknown>>;

/** Reads and validates the body of `POST /register`. Fields that the rules do not declare are dropped. */
@Injectable()
export class RegistrationForm {
  constructor(
    private readonly passwords: PasswordRules,
    private readonly users: TimedUserProvider,
    private readonly realm: Realm,
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
      const choice = { password, password_confirmation: confirmation };
      await this.passwords.accept(choice, [identifier, textIn(fields.email)]);
    }
    if (identifier !== null && (await this.isTaken(identifier))) throw new IdentifierTaken(username);
    return fields;
  }

  /** Returns the rules for a request. @throws AuthConfigError, and every error of `hooks.registerRules` */
  rules(request: object): RegistrationRules {
    const { hooks, username } = this.realm.options;
    const rules = hooks.registerRules?.(request);
    if (!rules) return { name: {}, [username]: { email: username === 'email' }, password: {} };
    for (const name of [username, 'password'].filter((field) => Object.hasOwn(rules, field))) {
      const { type = 'string', optional = false } = rules[name]!;
      if (type === 'string' && !optional) continue;
      throw new AuthConfigError(
        `hooks.registerRules makes ${name} optional or gives it another type than string, so it could be accepted ` +
          'without a check. Remove type and optional, or leave out the field.',
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
    return (await this.users.findByIdentifier(identifier)) !== null;
  }
}

const kept = (name: string, value: unknown): unknown => (typeof value === 'string' ? keptAs(name, value) : value);

const textIn = (value: unknown): string | null => (typeof value === 'string' ? value : null);
