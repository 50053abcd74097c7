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

/** Whether a text has more than `most` characters. One is two units at most, so what is vast is not counted. */
export const isLongerThan = (text: string, most: number): boolean => text.length > 2 * most || [...text].length > most;

/** Longest email address: 64 characters, an at sign, and a domain of 254 (RFC 5321 §4.5.3.1). */
const EMAIL_MAX = 319;

/** What says in a mail header where an address ends or which part of it counts, and what shows in no font. */
const MISLEADING = /[\p{C}\p{Z}"(),:;<>[\\\]]/u;

/**
 * Whether a text is an email address (RFC 5321 §4.1.2) that every mail program reads alike. Any host name will
 * do: `a@b.c`, `x@localhost`.
 *
 * Quoted local parts are left out, though the RFC has them: mailers have delivered `"eve@evil.test x"@example.com`
 * to eve, which would verify an address of example.com for her.
 */
export function isEmailAddress(value: unknown): value is string {
  if (typeof value !== 'string' || isLongerThan(value, EMAIL_MAX)) return false;
  // As mail programs fold it: a full-width @ is one.
  const folded = value.normalize('NFKC');
  // First, for half a surrogate pair is no text that `isEmail` can measure: it throws.
  if (MISLEADING.test(folded) || folded.split('@').length !== 2) return false;
  return isEmail(value, { require_tld: false });
}

/** Longest text field of any request, in characters. */
export const FIELD_MAX = 255;

const USERNAME = Symbol('svc.username-field');

const isShort = (value: unknown): boolean => typeof value === 'string' && !isLongerThan(value, FIELD_MAX);

/** A rule of our own: the library below does not count variation selectors, of which a text may be made. */
const Short = (): PropertyDecorator => ValidateBy({ name: 'maxLength', validator: { validate: isShort } });

/** A string of at most {@link FIELD_MAX} characters that may be absent. */
export const OptionalText = (): PropertyDecorator => applyDecorators(IsOptional(), IsString(), Short());

/** A string of at most {@link FIELD_MAX} characters that must be there. */
export const RequiredText = (): PropertyDecorator => applyDecorators(IsDefined(), IsString(), Short());

/** An email address that must be there: see {@link isEmailAddress}. */
export const RequiredEmail = (): PropertyDecorator =>
  applyDecorators(RequiredText(), ValidateBy({ name: 'isEmail', validator: { validate: isEmailAddress } }));

/** A string that must be there, such as a token: as long as a body may be. */
export const RequiredString = (): PropertyDecorator => applyDecorators(IsDefined(), IsString());

/** A JSON object, whatever is in it. */
export const RequiredObject = (): PropertyDecorator => applyDecorators(IsDefined(), IsObject());

/** A JSON object that may be absent. */
export const OptionalObject = (): PropertyDecorator => applyDecorators(IsOptional(), IsObject());

/** Marks the property that travels under the realm's `username` name, in requests and in errors. */
export const UsernameField = (): PropertyDecorator => (target, property) => {
  Reflect.defineMetadata(USERNAME, property, target.constructor);
};

/** The wire name of a request property. */
export const wireName = (type: object, property: string, username: string): string =>
  Reflect.getMetadata(USERNAME, type) === property ? username : property;

/** A field as texts name it. */
export const named = (field: string): string => field.replaceAll('_', ' ');

/** Spaces are part of a password. */
const VERBATIM = new Set(['password', 'password_confirmation', 'current_password']);

/**
 * A field of a body as it counts: texts trimmed, empty ones null, as is what is missing. Only the body's own
 * properties, so that nothing it names can reach a prototype.
 */
export function ownField(body: unknown, name: string): unknown {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  const value = isObject && Object.hasOwn(body, name) ? (body as Record<string, unknown>)[name] : null;
  const kept = typeof value === 'string' && !VERBATIM.has(name) ? value.trim() : value;
  return kept === '' ? null : kept;
}

const MESSAGE_OF: Record<string, MessageKey> = {
  isDefined: 'validation.required',
  isString: 'validation.string',
  isObject: 'validation.object',
  maxLength: 'validation.max_length',
  isEmail: 'validation.email',
};

/**
 * Makes a request body an instance of its class: declared fields only, trimmed, empty ones null, each
 * checked. @throws ValidationFailed with the texts by wire name
 */
@Injectable()
abstract class BodyPipe implements PipeTransform {
  protected abstract readonly request: Type;

  constructor(private readonly realm: Realm) {}

  async transform(body: unknown): Promise<unknown> {
    const request = Object.assign(new this.request(), this.declared(body, this.request)) as object;
    const errors = await validate(request, { validationError: { target: false, value: false } });
    if (errors.length) throw new ValidationFailed(this.texts(errors, this.request));
    return request;
  }

  private declared(body: unknown, metatype: Type): Record<string, unknown> {
    const { username } = this.realm.options;
    return Object.fromEntries(
      fieldsOf(metatype).map((field) => [field, ownField(body, wireName(metatype, field, username))]),
    );
  }

  private texts(errors: ValidationError[], metatype: Type): Record<string, Text[]> {
    const entries = errors.map(({ property, constraints = {} }) => {
      const field = wireName(metatype, property, this.realm.options.username);
      const params = { field: named(field), max: FIELD_MAX };
      // A value that is absent or of the wrong type breaks every rule at once; only that is worth saying.
      const first = ['isDefined', 'isString', 'isObject', 'maxLength'].find((rule) => rule in constraints);
      const broken = first ? [first] : Object.keys(constraints);
      return [field, broken.map((rule) => ({ key: MESSAGE_OF[rule] ?? 'validation.invalid', params }))] as const;
    });
    return Object.fromEntries(entries);
  }
}

const fieldsOf = (metatype: Type): string[] => [...rulesOf(metatype).keys()];

/** The names of the rules that stand on each property of a request class. */
export function rulesOf(metatype: Type): ReadonlyMap<string, ReadonlySet<string>> {
  const rules = new Map<string, Set<string>>();
  const declared = getMetadataStorage().getTargetValidationMetadatas(metatype, '', false, false);
  for (const { propertyName, name, type } of declared)
    rules.set(propertyName, (rules.get(propertyName) ?? new Set()).add(name ?? type));
  return rules;
}

const BodyItself = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest().body,
);

/**
 * The request body as an instance of a class of ours. A decorator of its own and not Nest's `@Body()`:
 * a host's global `ValidationPipe` would judge that by its own rules, before ours and in another shape.
 */
export const RequestBody = (type: Type): ParameterDecorator => {
  @Injectable()
  class Pipe extends BodyPipe {
    static readonly request = type;
    protected override readonly request = type;
  }
  return BodyItself(Pipe);
};

/** The part of a body that chooses a password. Whether it is accepted is the password rules' to say. */
export abstract class NewPasswordRequest {
  @RequiredText()
  password!: string;

  @OptionalText()
  password_confirmation: string | null = null;
}
