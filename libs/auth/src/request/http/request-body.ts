import {
  type ExecutionContext,
  Inject,
  Injectable,
  type PipeTransform,
  type Type,
  createParamDecorator,
} from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import isEmail from 'validator/lib/isEmail';
import type { GuardConfig } from '../../foundation/config/auth-config';
import { readFlag } from '../../foundation/config/option-values.policy';
import { ValidationFailed } from '../../foundation/platform/errors';
import type { CoreMessageKey, Text } from '../../foundation/platform/messages';
import { type Feature, MANIFESTS } from '../../foundation/realm/feature';
import { Realm } from '../../foundation/realm/realm';
import { requestOfParameter } from '../gates/request-log';
import { canonicalEmail, hasAsciiDomain } from '../../identity/users/identifiers';

/** Whether a text has more than `max` characters. Very long texts are not counted: a character has at most two units. */
export const isLongerThan = (text: string, max: number): boolean => text.length > 2 * max || [...text].length > max;

/** Longest email address: 64 characters, an at sign, and a domain of 254 (RFC 5321 §4.5.3.1). */
const EMAIL_MAX = 319;

/** Characters that delimit or comment an address in a mail header, and those that are no letter, number, mark or symbol. */
const MISLEADING = /[\p{C}\p{Z}"(),:;<>[\\\]]/u;

/**
 * Characters that are not shown: control characters, those that Unicode calls `Default_Ignorable_Code_Point` (zero-width characters,
 * marks of the writing direction, fillers of Hangul), and those whose glyph is blank: of Braille, of musical notation, of hieroglyphs
 * and of the Khitan script.
 */
const INVISIBLE =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb\u{13441}\u{13442}\u{16fe4}\u{1d159}]/u;

/** A character that is shown without another one. */
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;

/** Whether a text has a character that is not shown, so that it looks like another text, or has no character that is shown. */
export const hasInvisible = (text: string): boolean => INVISIBLE.test(text) || !VISIBLE.test(text);

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
  if (hasInvisible(value) || MISLEADING.test(value) || MISLEADING.test(folded) || folded.split('@').length !== 2)
    return false;
  // A character that becomes a dot or an at sign: the address would be another one for a mail program.
  if (delimitersIn(folded) !== value.replaceAll(/[^.@]/g, '')) return false;
  // The form that is stored, and to which mails go. Its labels may be longer.
  const canonical = canonicalEmail(value);
  return hasAsciiDomain(canonical) && isEmail(canonical, { require_tld: false });
}

/** Maximum number of fields that a response lists, so that a small request gets no large response. */
export const FIELDS_LISTED = 100;

/** Longest text field of any request, in characters. */
export const FIELD_MAX = 255;

/** Deepest level of a body that is read by recursion. A deeper value could exceed the stack. */
export const DEPTH_MAX = 32;

const USERNAME = Symbol('svc.username-field');

/** The rule of one field of a request body. */
export interface FieldRule {
  readonly type: 'string' | 'number' | 'object' | 'array' | 'boolean';
  /** Whether the field must be present; a function decides by the other fields. */
  readonly required: boolean | ((body: Readonly<Record<string, unknown>>) => boolean);
  /** In characters. Without it, only the limit of the body applies. */
  readonly maxLength?: number;
  /** Whether the value must be an email address: see {@link isEmailAddress}. */
  readonly email?: boolean;
  /** Whether a blank text is a value, which is refused: as an absent one it would widen what the request does. */
  readonly keepsBlank?: true;
}

const RULES = Symbol('svc.field-rules');

const Field =
  (rule: FieldRule): PropertyDecorator =>
  (target, property) => {
    const own: Map<string, FieldRule> = Reflect.getOwnMetadata(RULES, target.constructor) ?? new Map();
    Reflect.defineMetadata(RULES, own.set(property as string, rule), target.constructor);
  };

/** Fields that a feature adds to a body of another feature. */
export interface AddedFields {
  /** The class of the body. */
  readonly to: Type<object>;
  /** A class with the fields. */
  readonly from: Type<object>;
}

declare module '../../foundation/realm/feature' {
  interface Feature {
    /** Fields in bodies of other features: also while this feature is off. */
    readonly fields?: readonly AddedFields[];
  }
}

/** The rules of the fields of a request class: its own fields first, then the inherited ones and those of other features. */
export const rulesOf = (type: object, manifests: readonly Feature[]): ReadonlyMap<string, FieldRule> =>
  new Map(
    [type, ...manifests.flatMap(({ fields = [] }) => fields.filter(({ to }) => to === type).map(({ from }) => from))]
      .map(declaredRules)
      .flatMap((rules) => [...rules]),
  );

function declaredRules(type: object): ReadonlyMap<string, FieldRule> {
  const own: ReadonlyMap<string, FieldRule> = Reflect.getOwnMetadata(RULES, type) ?? new Map();
  const parent: object | null = Object.getPrototypeOf(type);
  return parent ? new Map([...own, ...[...declaredRules(parent)].filter(([name]) => !own.has(name))]) : own;
}

/** An optional string of at most {@link FIELD_MAX} characters. */
export const OptionalText = (): PropertyDecorator => Field({ type: 'string', required: false, maxLength: FIELD_MAX });

/** A required string of at most {@link FIELD_MAX} characters. */
export const RequiredText = (required: FieldRule['required'] = true): PropertyDecorator =>
  Field({ type: 'string', required, maxLength: FIELD_MAX });

/** A required email address: see {@link isEmailAddress}. */
export const RequiredEmail = (): PropertyDecorator =>
  Field({ type: 'string', required: true, maxLength: FIELD_MAX, email: true });

/** A required string with its own length limit, or without one, such as a token: the body limit applies. */
export const RequiredString = (maxLength?: number): PropertyDecorator =>
  Field({ type: 'string', required: true, maxLength });

/** An optional string without its own length limit: see {@link RequiredString}. */
export const OptionalString = (): PropertyDecorator => Field({ type: 'string', required: false });

/** A required JSON object with any content. */
export const RequiredObject = (): PropertyDecorator => Field({ type: 'object', required: true });

/** An optional JSON object with any content. */
export const OptionalObject = (): PropertyDecorator => Field({ type: 'object', required: false });

/** An optional number. */
export const OptionalNumber = (): PropertyDecorator => Field({ type: 'number', required: false, keepsBlank: true });

/** The text of an optional time, also a blank one. */
export const OptionalTime = (): PropertyDecorator =>
  Field({ type: 'string', required: false, maxLength: FIELD_MAX, keepsBlank: true });

/** An optional list of at most {@link ITEMS_MAX} items of any kind. */
export const OptionalList = (): PropertyDecorator => Field({ type: 'array', required: false, keepsBlank: true });

/** An optional boolean, or its text in a form (`on`, `false`), which is converted. */
export const OptionalFlag = (): PropertyDecorator => Field({ type: 'boolean', required: false });

/** Marks the property that has the realm's `username` as its field name in requests and in errors. */
export const UsernameField = (): PropertyDecorator => (target, property) => {
  Reflect.defineMetadata(USERNAME, property, target.constructor);
};

/** Returns the field name of a property in requests and errors: `codeToken` is `code_token`. */
export const wireName = (type: object, property: string, username: string): string =>
  Reflect.getMetadata(USERNAME, type) === property
    ? username
    : property.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns the name of a field for messages. */
export const named = (field: string): string => field.replaceAll('_', ' ');

/** Fields that are not trimmed: spaces are part of a password. */
const VERBATIM = new Set(['password', 'password_confirmation', 'current_password']);

/**
 * Returns a field of a body: strings trimmed; null for an empty string and for a missing field. Only own properties
 * are read, so that a field name cannot reach a prototype.
 */
export function ownField(body: unknown, name: string, keepsBlank = false): unknown {
  const value = isRecord(body) && Object.hasOwn(body, name) ? (body[name] ?? null) : null;
  if (keepsBlank && typeof value === 'string') return value.trim();
  return VERBATIM.has(name) && value !== '' ? value : trimmed(value);
}

/**
 * The form of a field in which its length is checked. A password that is too long as it was entered may not be in the composed
 * spelling of its characters (NFC), in which another device of the user enters it.
 */
export const measured = (name: string, value: unknown): unknown =>
  VERBATIM.has(name) && typeof value === 'string' && isLongerThan(value, FIELD_MAX) && value.length <= 8 * FIELD_MAX
    ? value.normalize('NFC')
    : value;

/** Whether a value is an object other than a list. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Trims a string; null for an empty one. Any other value stays unchanged. */
export const trimmed = (value: unknown): unknown => (typeof value === 'string' ? value.trim() || null : value);

/** Reads a boolean from its text in a form (`on`, `false`). Any other value stays unchanged. */
const flagOf = (value: unknown): unknown => (typeof value === 'string' ? (readFlag(value) ?? value) : value);

/**
 * Converts a request body to an instance of its class: only declared fields, trimmed, empty strings as null, validated.
 *
 * @param rules those of the fields of the class
 * @param username the field name of the property that has {@link UsernameField}
 * @throws ValidationFailed with the messages by field name
 */
export function readBody<Body extends object>(
  type: Type<Body>,
  rules: ReadonlyMap<string, FieldRule>,
  body: unknown,
  username: string,
): Body {
  const nameOf = (property: string): string => wireName(type, property, username);
  const values = Object.fromEntries(
    [...rules].map(([property, { type: kind, keepsBlank }]) => {
      const value = ownField(body, nameOf(property), keepsBlank);
      return [property, kind === 'boolean' ? flagOf(value) : value];
    }),
  );
  const errors = [...rules].flatMap(([property, rule]): [string, Text[]][] => {
    const { required, ...expected } = rule;
    const isRequired = typeof required === 'function' ? required(values) : required;
    // A text with NUL passes: it names nothing that is stored.
    const { maxLength = Infinity } = rule;
    const whole = { ...expected, maxLength, optional: !isRequired };
    const [field, key] = [nameOf(property), fieldFault(measured(nameOf(property), values[property]), whole, true)];
    const max = key === 'validation.max_items' ? ITEMS_MAX : maxLength;
    return key ? [[field, [{ key, params: { field: named(field), max } }]]] : [];
  });
  if (errors.length) throw new ValidationFailed(Object.fromEntries(errors));
  return Object.assign(new type(), values);
}

/** Maximum number of items of a list, unless its rule has another one. */
export const ITEMS_MAX = 100;

/** What a field accepts. By default: a required text of at most {@link FIELD_MAX} characters. */
export interface ValueRule {
  readonly optional?: boolean;
  readonly type?: 'string' | 'number' | 'boolean' | 'object' | 'array';
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly email?: boolean;
}

/**
 * Returns the fault of a field's value, or null. The parts of an object or a list, checks of the
 * host and the password rules are applied separately.
 *
 * @param allowsNul for a password, whose rules refuse NUL, and for a value that is only compared with stored ones
 */
export function fieldFault(value: unknown, rule: ValueRule, allowsNul = false): CoreMessageKey | null {
  const { optional = false, type = 'string', maxLength = FIELD_MAX, maxItems = ITEMS_MAX, email = false } = rule;
  if (value === null) return optional ? null : 'validation.required';
  if (type === 'object') return isRecord(value) ? null : 'validation.object';
  if (type === 'array') {
    if (!Array.isArray(value)) return 'validation.array';
    return value.length > maxItems ? 'validation.max_items' : null;
  }
  if (typeof value !== type) return type === 'string' ? 'validation.string' : 'validation.invalid';
  if (typeof value !== 'string') return Number.isFinite(value) || type === 'boolean' ? null : 'validation.invalid';
  if (isLongerThan(value, maxLength)) return 'validation.max_length';
  if (email && !isEmailAddress(value)) return 'validation.email';
  // PostgreSQL cannot store NUL in a text.
  return value.includes('\0') && !allowsNul ? 'validation.invalid' : null;
}

/**
 * Reads the field `remember` of a sign-in: a boolean, or its text in a form (`on`, `false`). True if it is missing. Without
 * `sessions.ttlWithoutRemember` the field has no effect, whatever it contains.
 *
 * @throws ValidationFailed for any other value
 */
export function rememberIn(request: object, { sessions }: Pick<GuardConfig, 'sessions'>): boolean {
  if (sessions.ttlWithoutRemember === 0) return true;
  const remember = flagOf(ownField((request as { body?: unknown }).body, 'remember') ?? true);
  if (typeof remember === 'boolean') return remember;
  throw new ValidationFailed({ remember: [{ key: 'validation.invalid', params: { field: 'remember' } }] });
}

/** Reads a body with {@link readBody}. */
@Injectable()
abstract class BodyPipe implements PipeTransform {
  protected abstract readonly request: Type<object>;

  private rules?: ReadonlyMap<string, FieldRule>;

  constructor(
    private readonly realm: Realm,
    @Inject(MANIFESTS) private readonly manifests: readonly Feature[],
  ) {}

  transform(body: unknown): object {
    this.rules ??= rulesOf(this.request, this.manifests);
    return readBody(this.request, this.rules, body, this.realm.options.username);
  }
}

/** An argument of a handler, as Nest's parameter decorators store it. */
export interface HandlerArgument {
  readonly index: number;
  /** The name of a parameter of the path, or what the decorator was called with. */
  readonly data?: unknown;
  readonly factory?: (data: unknown, context: ExecutionContext) => unknown;
  readonly pipes?: readonly (Type<PipeTransform> & { readonly request?: Type<object> })[];
}

/** The arguments that the parameters of a handler declare, each with Nest's key of its kind. */
export const argumentsOf = (controller: Type, name: string): [kind: string, argument: HandlerArgument][] =>
  Object.entries((Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {}) as Record<string, HandlerArgument>);

/** The class of the body that a handler reads; undefined for a handler without {@link RequestBody}. */
export const bodyClassOf = (controller: Type, name: string): Type<object> | undefined =>
  argumentsOf(controller, name).flatMap(([, { pipes = [] }]) => pipes.flatMap(({ request }) => request ?? []))[0];

const RawBody = createParamDecorator(
  (_: unknown, context: ExecutionContext) => requestOfParameter<{ body?: unknown }>(context).body,
);

/**
 * Injects the request body as an instance of the class of the parameter. Nest's `@Body()` is not used, because a global
 * `ValidationPipe` of the host would validate it first, with other rules and another error format.
 */
export const RequestBody = (): ParameterDecorator => (target, name, index) => {
  // The compiler writes the types of the parameters, which it does not for `import type`.
  const type = (Reflect.getMetadata('design:paramtypes', target, name!) as Type<object>[])[index]!;
  if (declaredRules(type).size === 0) throw new Error(`${String(name)} reads a body whose class declares no field`);
  @Injectable()
  class Pipe extends BodyPipe {
    static readonly request = type;
    protected override readonly request = type;
  }
  RawBody(Pipe)(target, name, index);
};

/** The fields of a body with a new password. The rules for passwords decide whether it is accepted. */
export abstract class NewPasswordRequest {
  @RequiredText()
  password!: string;

  @OptionalText()
  password_confirmation: string | null = null;
}
