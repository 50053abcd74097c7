import { Injectable } from '@nestjs/common';
import type { RegistrationField, RegistrationRules } from './registration-rules';
import {
  type CoreMessageKey,
  Realm,
  type Text,
  deadline,
  errors,
  identity,
  input,
  schema,
  type session,
} from '../../kit';
import { RegistrationClass } from './registration-class';

/**
 * Reads a value by its rule: of objects only the declared fields, texts in objects and lists trimmed. A value of another
 * type, a list that is too long, and an object below {@link input.DEPTH_MAX} are not read: they are refused.
 */
function declared(value: unknown, rule: RegistrationField, depth = 1): unknown {
  const { type, fields = {}, items = {}, maxItems = input.ITEMS_MAX } = rule;
  // Only rules that contain themselves are so deep.
  if (depth > input.DEPTH_MAX && (type === 'object' || type === 'array')) return undefined;
  if (type === 'object' && input.isRecord(value)) {
    const read = (name: string, own: RegistrationField): unknown =>
      declared(input.ownField(value, name), own, depth + 1);
    return Object.fromEntries(Object.entries(fields).map(([name, own]) => [name, read(name, own)]));
  }
  const isList = type === 'array' && Array.isArray(value) && value.length <= maxItems;
  return isList ? value.map((item) => declared(input.trimmed(item) ?? null, items, depth + 1)) : value;
}

/** The parts of a value that {@link declared} returned, each with its name and its rule. */
function partsOf(
  value: unknown,
  { fields = {}, items = {} }: RegistrationField,
): [string, unknown, RegistrationField][] {
  if (Array.isArray(value)) return value.map((item, index) => [String(index), item, items]);
  return input.isRecord(value) ? Object.entries(fields).map(([name, own]) => [name, value[name], own]) : [];
}

/** Reads and validates the body of a registration. Fields that the rules do not declare are dropped. */
@Injectable()
export class RegistrationForm {
  private readonly byClass: RegistrationClass | undefined;

  constructor(
    private readonly passwords: identity.PasswordRules,
    private readonly realm: Realm,
  ) {
    const { rules } = realm.options.registration;
    this.byClass = rules && RegistrationClass.of(rules);
  }

  /**
   * Reads no account, so its errors show none.
   *
   * @param hasPassword false for a registration with another credential: then the rules of the password do not apply
   * @throws ValidationFailed
   */
  async read(request: { body?: unknown }, hasPassword = true): Promise<session.AccountFields> {
    const fields = await this.fieldsOf(request, (name) => hasPassword || name !== 'password');
    const { username } = this.realm.options;
    const [identifier, password] = [textIn(fields[username]), textIn(fields.password)];
    if (password !== null) {
      const confirmation = textIn(input.ownField(request.body, 'password_confirmation'));
      const choice = { password, password_confirmation: confirmation };
      await this.passwords.accept(choice, [identifier, textIn(fields.email)]);
    }
    return fields;
  }

  /** Reads only the identifier, by its rule. @throws ValidationFailed */
  async readIdentifier(request: { body?: unknown }): Promise<string> {
    const { username } = this.realm.options;
    const fields = await this.fieldsOf(request, (name) => name === username);
    if (Object.hasOwn(fields, username)) return fields[username] as string;
    // The rules leave it out.
    const value = { [username]: kept(username, input.ownField(request.body, username)) };
    await this.refuseFaults(value, { [username]: {} });
    return value[username] as string;
  }

  /** Reads and validates the fields whose names pass. */
  private async fieldsOf(
    request: { body?: unknown },
    isWanted: (name: string) => boolean,
  ): Promise<session.AccountFields> {
    const { byClass } = this;
    if (byClass) {
      const { errors: failures, fields } = await byClass.read(
        request.body,
        byClass.names.filter(isWanted),
        this.realm.options,
      );
      const faults = Object.entries(failures).slice(0, input.FIELDS_LISTED);
      if (faults.length) throw new errors.ValidationFailed(Object.fromEntries(faults));
      return fields;
    }
    const rules = Object.fromEntries(Object.entries(this.rules(request)).filter(([name]) => isWanted(name)));
    const read = (name: string, rule: RegistrationField): unknown =>
      declared(kept(name, input.ownField(request.body, name)), rule);
    const fields = Object.fromEntries(Object.entries(rules).map(([name, rule]) => [name, read(name, rule)]));
    await this.refuseFaults(fields, rules);
    return fields;
  }

  /**
   * Returns the rules for a request; of a class those that a document can describe.
   *
   * @throws AuthConfigError, and every error of `hooks.registerRules`
   */
  rules(request: object): RegistrationRules {
    if (this.byClass) return this.byClass.described();
    const { hooks, username } = this.realm.options;
    const rules = hooks.registerRules?.(request);
    if (!rules) return { name: {}, [username]: { email: username === 'email' }, password: {} };
    for (const name of [username, 'password'].filter((field) => Object.hasOwn(rules, field))) {
      const { type = 'string', optional = false } = rules[name]!;
      if (type === 'string' && !optional) continue;
      throw new errors.AuthConfigError(
        `hooks.registerRules makes ${name} optional or gives it another type than string, so it could be accepted ` +
          'without a check. Remove type and optional, or leave out the field.',
      );
    }
    return rules;
  }

  /** The schema of a body with the fields that the rules declare. */
  body(): schema.Schema {
    let rules: RegistrationRules;
    try {
      rules = this.rules({});
    } catch {
      // Rules that depend on the request are unknown here.
      return ANY;
    }
    const schemas = Object.fromEntries(Object.entries(rules).map(([name, rule]) => [name, fieldOf(rule)]));
    if (!rules.password) return schema.objectOf(schemas, (name) => !rules[name]!.optional);
    const { minLength } = this.realm.options.passwords;
    schemas.password = { ...schemas.password, minLength };
    return schema.objectOf({ ...schemas, password_confirmation: schemas.password }, (name) => !rules[name]?.optional);
  }

  /** The same without the password, and with the fields of another proof. */
  bodyWith(proof: schema.Schema | null): schema.Schema {
    const own = this.body();
    if (own === ANY) return ANY;
    const { password: _, password_confirmation: __, ...properties } = own.properties as Record<string, schema.Schema>;
    const all = { ...properties, ...(proof?.properties as Record<string, schema.Schema> | undefined) };
    const required = [...((own.required as string[]) ?? []), ...((proof?.required as string[] | undefined) ?? [])];
    return schema.objectOf(all, (field) => required.includes(field));
  }

  private async refuseFaults(fields: session.AccountFields, rules: RegistrationRules): Promise<void> {
    // One time limit for all checks of the request.
    const failures = await deadline.callHost('a check of hooks.registerRules', async () => {
      const faults: [string, Text[]][] = [];
      for (const [name, value, rule] of partsOf(fields, { fields: rules }))
        faults.push(...(await this.faultsOf(name, value, rule, fields)));
      return faults;
    });
    if (failures.length) throw new errors.ValidationFailed(Object.fromEntries(failures.slice(0, input.FIELDS_LISTED)));
  }

  /** The faults of a value and of its parts, by their paths. */
  private async faultsOf(
    path: string,
    value: unknown,
    rule: RegistrationField,
    fields: session.AccountFields,
  ): Promise<[string, Text[]][]> {
    const max = rule.type === 'array' ? (rule.maxItems ?? input.ITEMS_MAX) : (rule.maxLength ?? input.FIELD_MAX);
    const failed = (key: CoreMessageKey): [string, Text[]][] => [
      [path, [{ key, params: { field: input.named(path), max } }]],
    ];
    const fault = input.fieldFault(input.measured(path, value), rule, path === 'password');
    if (fault) return failed(fault);
    if (path === this.realm.options.username && input.hasInvisible(value as string))
      return failed('validation.invalid');
    if (value === null) return [];
    const below: [string, Text[]][] = [];
    for (const [name, part, own] of partsOf(value, rule))
      below.push(...(await this.faultsOf(`${path}.${name}`, part, own, fields)));
    if (below.length) return below;
    return (await rule.check?.(value, fields)) === false ? failed('validation.invalid') : [];
  }
}

const kept = (name: string, value: unknown): unknown =>
  typeof value === 'string' ? identity.keptAs(name, value) : value;

const textIn = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const ANY: schema.Schema = schema.of(schema.OBJECT, 'As hooks.registerRules says for each request.');

/** @param above the rules that contain this one. Rules that contain themselves are described once */
function fieldOf(rule: RegistrationField, above: readonly RegistrationField[] = []): schema.Schema {
  const { type = 'string', maxLength = input.FIELD_MAX, email = false, fields: own = {}, items = {}, maxItems } = rule;
  const below = (part: RegistrationField): schema.Schema => fieldOf(part, [...above, rule]);
  if (above.includes(rule)) return type === 'array' ? schema.listOf({}) : schema.OBJECT;
  if (type === 'array') return { ...schema.listOf(below(items)), ...limit('maxItems', maxItems ?? input.ITEMS_MAX) };
  if (type === 'object') {
    const schemas = Object.fromEntries(Object.entries(own).map(([name, part]) => [name, below(part)]));
    return schema.objectOf(schemas, (name) => !own[name]!.optional);
  }
  return { type, ...(type === 'string' && limit('maxLength', maxLength)), ...(email && { format: 'email' }) };
}

/** A limit, if there is one: a class of the host may have none. */
const limit = (name: string, max: number): schema.Schema => (Number.isFinite(max) ? { [name]: max } : {});
