import type { Type, ValidationError } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { type Text, deadline, type errors, http, identity, input, peer, type settings } from '../../kit';
import type { RegistrationField, RegistrationRules } from './registration-rules';

type ClassValidator = typeof import('class-validator');
type Texts = Record<string, errors.FieldText[]>;

/** The rules of a class by property. */
type Metadata = ReturnType<ReturnType<ClassValidator['getMetadataStorage']>['getTargetValidationMetadatas']>;

/** The fields of a request that have no fault. */
export interface Accepted {
  readonly errors: Texts;
  /** An instance of the class. */
  readonly fields: Record<string, unknown>;
}

/** The rules of a registration as a class of the host with the decorators of class-validator: `registration.rules`. */
export class RegistrationClass {
  private constructor(
    private readonly type: Type<object>,
    private readonly validator: ClassValidator,
  ) {}

  /** Undefined if class-validator is not installed. */
  static of(type: Type<object>): RegistrationClass | undefined {
    const validator = peer.optionalPeer<ClassValidator>('class-validator');
    return validator && new RegistrationClass(type, validator);
  }

  /** The names of the fields: the properties with a decorator of class-validator. */
  get names(): string[] {
    return [...new Set(this.metadata().map(({ propertyName }) => propertyName))];
  }

  /** Whether some requests need no value for a field: `@IsOptional()`, `@ValidateIf()`. */
  isOptional(field: string): boolean {
    return this.metadata().some(({ propertyName, type }) => propertyName === field && type === 'conditionalValidation');
  }

  /**
   * Reads the fields of a body, and validates them. Texts are trimmed; an empty text is a missing value. Properties without a
   * decorator are dropped, also those of nested classes.
   *
   * @param names the fields that are read and validated
   * @throws ValidationFailed for a body that class-transformer cannot convert
   */
  async read(body: unknown, names: readonly string[], options: settings.GuardConfig): Promise<Accepted> {
    const own = names.map((name) => [name, keptField(name, input.ownField(body, name))] as const);
    const values = Object.fromEntries(own.filter(([, value]) => value !== null));
    return http.withoutUnreadable(values, true, async () => {
      const fields = plainToInstance(this.type, trimmedParts(values)) as Record<string, unknown>;
      const errors = await deadline.callHost('a check of registration.rules', () =>
        this.validator.validate(fields, { whitelist: true }),
      );
      // A transformation of the host does not change the form in which an identifier is stored.
      for (const name of names) if (Object.hasOwn(fields, name)) fields[name] = keptField(name, fields[name]);
      const known = errors.filter(({ property }) => names.includes(property)).map(asMissing);
      const nul = Object.fromEntries(pathsWithNul(fields, []).map((path) => [path, invalid(path)]));
      return { errors: { ...http.textsOf(known), ...nul, ...storedFaults(fields, names, options) }, fields };
    });
  }

  /** The rules as an OpenAPI document can describe them. Rules without a counterpart there are left out. */
  described(type: Type<object> = this.type, known = new Map<Type<object>, RegistrationRules>()): RegistrationRules {
    const found = known.get(type);
    if (found) return found;
    const rules: Record<string, RegistrationField> = {};
    known.set(type, rules);
    for (const one of this.metadata(type)) rules[one.propertyName] ??= { maxLength: Infinity, maxItems: Infinity };
    for (const [name, rule] of Object.entries(rules)) {
      const own = this.metadata(type).filter(({ propertyName }) => propertyName === name);
      const nested: Type<object> | undefined = Reflect.getMetadata('design:type', type.prototype, name);
      const has = (...wanted: string[]) => own.find((one) => !one.each && wanted.includes(one.name ?? one.type));
      const hasRules = nested !== undefined && own.some((one) => one.type === 'nestedValidation' && !one.each);
      // A missing value passes the rules of a nested class.
      rule.optional =
        own.some((one) => one.type === 'conditionalValidation') || own.every(({ type: kind }) => PASSING.has(kind));
      rule.email = Boolean(has('isEmail'));
      rule.maxLength = has('maxLength')?.constraints[0] ?? has('isLength')?.constraints[1] ?? Infinity;
      rule.maxItems = has('arrayMaxSize')?.constraints[0] ?? Infinity;
      if (has('isNumber', 'isInt') || nested === (Number as unknown)) rule.type = 'number';
      if (has('isBoolean') || nested === (Boolean as unknown)) rule.type = 'boolean';
      if (has('isObject') || hasRules) rule.type = 'object';
      if (hasRules && this.metadata(nested).length) rule.fields = this.described(nested, known);
      if (has('isArray') || nested === (Array as unknown)) {
        rule.type = 'array';
        const ofObjects = own.some((one) => one.each && one.type === 'nestedValidation');
        rule.items = { maxLength: Infinity, ...(ofObjects && { type: 'object' }) };
      }
    }
    return rules;
  }

  private metadata(type: Type<object> = this.type): Metadata {
    return this.validator.getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  }
}

/** The kinds of rules of class-validator that accept a missing value. */
const PASSING = new Set(['nestedValidation', 'whitelistValidation']);

const keptField = (name: string, value: unknown): unknown =>
  typeof value === 'string' ? identity.keptAs(name, value) : value;

/** The values with the texts of objects and lists trimmed. {@link http.withoutUnreadable} has bounded the levels. */
function trimmedParts(values: unknown, level = 0): unknown {
  if (Array.isArray(values)) return values.map((item) => trimmedParts(input.trimmed(item) ?? null, level + 1));
  const parts = http.partsOf(values);
  if (!parts.length) return values;
  // The fields themselves are trimmed, except passwords.
  const read = parts.map(([name, part]) => [name, level === 0 ? part : (input.trimmed(part) ?? null)] as const);
  const present = read.filter(([, part]) => part !== null);
  return Object.fromEntries(present.map(([name, part]) => [name, trimmedParts(part, level + 1)]));
}

/** A missing value breaks every rule. It has one error, as on the other routes: that of `@IsDefined()` or `@IsNotEmpty()`. */
function asMissing(error: ValidationError): ValidationError {
  const { property, value, constraints, children = [] } = error;
  const isMissing = constraints && (value === undefined || value === null);
  const own = isMissing && !('isDefined' in constraints) && !('isNotEmpty' in constraints);
  const below = children.map(asMissing);
  if (!own) return { ...error, children: below };
  return { property, constraints: { isDefined: `${property} should not be null or undefined` }, children: below };
}

/** The paths of texts that PostgreSQL cannot store. The password rules check a password. */
function pathsWithNul(value: unknown, path: readonly string[]): string[] {
  if (typeof value === 'string') return value.includes('\0') && path.join() !== 'password' ? [path.join('.')] : [];
  const isRead = Array.isArray(value) || (typeof value === 'object' && value !== null);
  return isRead ? Object.entries(value).flatMap(([key, part]) => pathsWithNul(part, [...path, key])) : [];
}

const invalid = (path: string): Text[] => [{ key: 'validation.invalid', params: { field: input.named(path) } }];

/** The faults of the fields that the library reads: they are texts of at most 255 characters, whatever the class accepts. */
function storedFaults(
  fields: Record<string, unknown>,
  names: readonly string[],
  { username, hooks }: settings.GuardConfig,
): Record<string, Text[]> {
  const stored = [username, 'password', ...(hooks.register ? [] : ['name'])].filter((name) => names.includes(name));
  return Object.fromEntries(
    stored.flatMap((name): [string, Text[]][] => {
      const value = fields[name] ?? null;
      const fault = input.fieldFault(input.measured(name, value === '' ? null : value), {}, name === 'password');
      if (fault) return [[name, [{ key: fault, params: { field: input.named(name), max: input.FIELD_MAX } }]]];
      return name === username && input.hasInvisible(value as string) ? [[name, invalid(name)]] : [];
    }),
  );
}
