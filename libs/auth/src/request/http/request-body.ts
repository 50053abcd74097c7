import {
  type ExecutionContext,
  Injectable,
  type PipeTransform,
  type Type,
  applyDecorators,
  createParamDecorator,
} from '@nestjs/common';
import {
  IsDefined,
  IsObject,
  IsOptional,
  IsString,
  ValidateBy,
  type ValidationError,
  getMetadataStorage,
  isEmail,
  validate,
} from 'class-validator';
import { ValidationFailed } from '../../foundation/platform/errors';
import type { MessageKey, Text } from '../../foundation/platform/messages';
import { Realm } from '../../foundation/realm/realm';

/** Whether a text has more than `max` characters. Very long texts are not counted: a character has at most two units. */
export const isLongerThan = (text: string, max: number): boolean => text.length > 2 * max || [...text].length > max;

/** Longest email address: 64 characters, an at sign, and a domain of 254 (RFC 5321 §4.5.3.1). */
const EMAIL_MAX = 319;

/** Characters that delimit or comment an address in a mail header, and invisible characters. */
const MISLEADING = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}"(),:;<>[\\\]]/u;

/** Whether a text has a character that is not shown (Unicode: `Default_Ignorable_Code_Point`). It would look like another text. */
export const hasInvisible = (text: string): boolean => /\p{Default_Ignorable_Code_Point}/u.test(text);

/**
 * The dots and at signs of an address. Host names may also contain the ideographic full stop, which programs read as a
 * dot (RFC 3490 §3.1, UTS 46).
 */
const delimitersIn = (text: string): string => text.replaceAll('\u3002', '.').replaceAll(/[^.@]/g, '');

/**
 * Whether a text is an email address (RFC 5321 §4.1.2) that all mail programs read the same way. Any host name is
 * accepted: `a@b.c`, `x@localhost`.
 *
 * Quoted local parts are refused, although the RFC allows them: mailers have delivered `"eve@evil.test x"@example.com`
 * to eve@evil.test, which would verify an address of example.com for an attacker.
 */
export function isEmailAddress(value: unknown): value is string {
  if (typeof value !== 'string' || isLongerThan(value, EMAIL_MAX)) return false;
  // Mail programs normalize addresses: a full-width @ becomes @.
  const folded = value.normalize('NFKC');
  // Before `isEmail`, which throws for an unpaired surrogate.
  if (MISLEADING.test(value) || MISLEADING.test(folded) || folded.split('@').length !== 2) return false;
  // A character that becomes a dot or an at sign: the address would be another one for a mail program.
  if (delimitersIn(folded) !== value.replaceAll(/[^.@]/g, '')) return false;
  return isEmail(value, { require_tld: false });
}

/** Maximum number of fields that a response lists, so that a small request gets no large response. */
export const FIELDS_LISTED = 100;

/** Longest text field of any request, in characters. */
export const FIELD_MAX = 255;

/** Deepest level of a body that is read by recursion. A deeper value could exceed the stack. */
export const DEPTH_MAX = 32;

const USERNAME = Symbol('svc.username-field');

const isShort = (value: unknown): boolean => typeof value === 'string' && !isLongerThan(value, FIELD_MAX);

/** Limits the length. The `MaxLength` of class-validator does not count variation selectors, so it is not used. */
const Short = (): PropertyDecorator => ValidateBy({ name: 'maxLength', validator: { validate: isShort } });

/** An optional string of at most {@link FIELD_MAX} characters. */
export const OptionalText = (): PropertyDecorator => applyDecorators(IsOptional(), IsString(), Short());

/** A required string of at most {@link FIELD_MAX} characters. */
export const RequiredText = (): PropertyDecorator => applyDecorators(IsDefined(), IsString(), Short());

/** A required email address: see {@link isEmailAddress}. */
export const RequiredEmail = (): PropertyDecorator =>
  applyDecorators(RequiredText(), ValidateBy({ name: 'isEmail', validator: { validate: isEmailAddress } }));

/** A required string without its own length limit, such as a token. The body limit applies. */
export const RequiredString = (): PropertyDecorator => applyDecorators(IsDefined(), IsString());

/** A required JSON object with any content. */
export const RequiredObject = (): PropertyDecorator => applyDecorators(IsDefined(), IsObject());

/** An optional JSON object with any content. */
export const OptionalObject = (): PropertyDecorator => applyDecorators(IsOptional(), IsObject());

const isFlagValue = (value: unknown): boolean =>
  value === true || value === false || value === 'true' || value === 'false';

/** An optional boolean. The texts `true` and `false` are accepted too, because a form contains only texts: see {@link isTrue}. */
export const OptionalFlag = (): PropertyDecorator =>
  applyDecorators(IsOptional(), ValidateBy({ name: 'isFlag', validator: { validate: isFlagValue } }));

/** The value of an {@link OptionalFlag}; false for an absent one. */
export const isTrue = (value: unknown): boolean => value === true || value === 'true';

/** Marks the property that has the realm's `username` as its field name in requests and in errors. */
export const UsernameField = (): PropertyDecorator => (target, property) => {
  Reflect.defineMetadata(USERNAME, property, target.constructor);
};

/** Returns the field name of a property in requests and errors. */
export const wireName = (type: object, property: string, username: string): string =>
  Reflect.getMetadata(USERNAME, type) === property ? username : property;

/** Returns the name of a field for messages. */
export const named = (field: string): string => field.replaceAll('_', ' ');

/** Fields that are not trimmed: spaces are part of a password. */
const VERBATIM = new Set(['password', 'password_confirmation', 'current_password']);

/**
 * Returns a field of a body: strings trimmed; null for an empty string and for a missing field. Only own properties
 * are read, so that a field name cannot reach a prototype.
 */
export function ownField(body: unknown, name: string): unknown {
  const value = isRecord(body) && Object.hasOwn(body, name) ? (body[name] ?? null) : null;
  return VERBATIM.has(name) && value !== '' ? value : trimmed(value);
}

/** Whether a value is an object other than a list. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Trims a string; null for an empty one. Any other value stays unchanged. */
export const trimmed = (value: unknown): unknown => (typeof value === 'string' ? value.trim() || null : value);

/** The library's texts of class-validator's rules. */
export const MESSAGE_OF: Readonly<Record<string, MessageKey>> = {
  isDefined: 'validation.required',
  isNotEmpty: 'validation.required',
  isString: 'validation.string',
  isObject: 'validation.object',
  isFlag: 'validation.boolean',
  isArray: 'validation.array',
  arrayMaxSize: 'validation.max_items',
  maxLength: 'validation.max_length',
  isEmail: 'validation.email',
};

/** A value that breaks one of these rules breaks others as well. Only the first of these is reported then. */
const ALONE = ['isDefined', 'isNotEmpty', 'isString', 'isObject', 'isArray', 'maxLength'];

/** The rules that one field breaks, with class-validator's texts. */
export interface BrokenRules {
  /** The names of the field and of the objects that contain it. */
  readonly path: readonly string[];
  readonly texts: Readonly<Record<string, string>>;
}

/** Lists the broken rules of all fields, with those of nested objects and lists, in the order of the fields. */
export function brokenRules(errors: readonly ValidationError[], parents: readonly string[] = []): BrokenRules[] {
  return errors.flatMap(({ property, constraints, children = [] }) => {
    const path = [...parents, property];
    return [...(constraints ? [{ path, texts: reported(constraints) }] : []), ...brokenRules(children, path)];
  });
}

function reported(constraints: Record<string, string>): Record<string, string> {
  const first = ALONE.find((rule) => rule in constraints);
  return first ? { [first]: constraints[first]! } : constraints;
}

/**
 * Converts a request body to an instance of its class: only declared fields, trimmed, empty strings as null, validated.
 *
 * @param username the field name of the property that has {@link UsernameField}
 * @throws ValidationFailed with the messages by field name
 */
export async function readBody<Body extends object>(type: Type<Body>, body: unknown, username: string): Promise<Body> {
  const request = Object.assign(new type(), declaredFields(body, type, username));
  const errors = await validate(request, { validationError: { target: false, value: false } });
  if (errors.length) throw new ValidationFailed(texts(errors, type, username));
  return request;
}

const declaredFields = (body: unknown, type: Type, username: string): Record<string, unknown> =>
  Object.fromEntries(fieldsOf(type).map((field) => [field, ownField(body, wireName(type, field, username))]));

function texts(errors: ValidationError[], type: Type, username: string): Record<string, Text[]> {
  const entries = brokenRules(errors).map(({ path: [property = '', ...below], texts: broken }) => {
    const field = [wireName(type, property, username), ...below].join('.');
    const params = { field: named(field), max: FIELD_MAX };
    return [
      field,
      Object.keys(broken).map((rule) => ({ key: MESSAGE_OF[rule] ?? 'validation.invalid', params })),
    ] as const;
  });
  return Object.fromEntries(entries);
}

/** Reads a body with {@link readBody}. */
@Injectable()
abstract class BodyPipe implements PipeTransform {
  protected abstract readonly request: Type<object>;

  constructor(private readonly realm: Realm) {}

  transform(body: unknown): Promise<object> {
    return readBody(this.request, body, this.realm.options.username);
  }
}

const fieldsOf = (metatype: Type): string[] => [...rulesOf(metatype).keys()];

/** Returns the names of the validation rules of each property of a request class. */
export function rulesOf(metatype: Type): ReadonlyMap<string, ReadonlySet<string>> {
  const rules = new Map<string, Set<string>>();
  const declared = getMetadataStorage().getTargetValidationMetadatas(metatype, '', false, false);
  for (const { propertyName, name, type } of declared)
    rules.set(propertyName, (rules.get(propertyName) ?? new Set()).add(name ?? type));
  return rules;
}

const RawBody = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest().body,
);

/**
 * Injects the request body as an instance of `type`. Nest's `@Body()` is not used, because a global `ValidationPipe` of
 * the host would validate it first, with other rules and another error format.
 */
export const RequestBody = (type: Type<object>): ParameterDecorator => {
  @Injectable()
  class Pipe extends BodyPipe {
    static readonly request = type;
    protected override readonly request = type;
  }
  return RawBody(Pipe);
};

/** The fields of a body with a new password. `PasswordRules` decides whether the password is accepted. */
export abstract class NewPasswordRequest {
  @RequiredText()
  password!: string;

  @OptionalText()
  password_confirmation: string | null = null;
}
