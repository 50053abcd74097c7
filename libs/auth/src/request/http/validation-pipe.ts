import {
  type ArgumentMetadata,
  Injectable,
  ValidationPipe as NestValidationPipe,
  type ValidationPipeOptions as NestOptions,
  Optional,
  type ValidationError,
} from '@nestjs/common';
import { type FieldText, ValidationFailed } from '../../foundation/platform/errors';
import type { CoreMessageKey } from '../../foundation/platform/messages';
import { DEPTH_MAX, FIELDS_LISTED, isRecord, named } from './request-body';

/** Options of {@link ValidationPipe}: those of Nest's pipe, without the ones for the format of its errors. */
export type ValidationPipeOptions = Omit<
  NestOptions,
  'disableErrorMessages' | 'errorFormat' | 'errorHttpStatusCode' | 'exceptionFactory' | 'maxErrorMessagesLength'
>;

/** Keys that class-transformer takes for members of the class of an object. */
const RESERVED = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Nest's `ValidationPipe` for the DTOs of the host, with the errors of the library's own routes: 422 with `message` and
 * `errors` by field, nested fields with dots (`address.city`, `phones.0.number`).
 *
 * A default text of class-validator is replaced by the library's text for it, where there is one. A text of the host
 * stays unchanged. `@ForceJson()` on the controller translates the library's texts with the option `messages`.
 *
 * Bodies that class-transformer cannot convert are 422, not 500: those with a key `constructor`, `prototype` or
 * `__proto__`, and those with more than 32 levels.
 *
 * Needs class-validator and class-transformer, as Nest's pipe does.
 *
 * @example app.useGlobalPipes(new ValidationPipe({ whitelist: true, transform: true }))
 * @publicApi
 */
@Injectable()
export class ValidationPipe extends NestValidationPipe {
  constructor(@Optional() options?: ValidationPipeOptions) {
    super(options);
  }

  /** @throws ValidationFailed */
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const target = { ...metadata, metatype: this.expectedType ?? metadata.metatype };
    const isConverted = target.metatype !== undefined && this.toValidate(target);
    return withoutUnreadable(value, isConverted, () => super.transform(value, metadata));
  }

  override createExceptionFactory() {
    return (errors: ValidationError[] = []): ValidationFailed => new ValidationFailed(textsOf(errors));
  }
}

/**
 * Converts and validates a body with class-transformer and class-validator.
 *
 * @param isConverted whether class-transformer reads the whole body
 * @throws ValidationFailed for a body that these packages cannot read
 */
export async function withoutUnreadable<T>(body: unknown, isConverted: boolean, read: () => Promise<T>): Promise<T> {
  refuse(isConverted ? fieldWith(body, cannotBeConverted) : null);
  try {
    return await read();
  } catch (error) {
    // `isEmail` of class-validator throws for half a surrogate pair.
    if (error instanceof URIError) refuse(fieldWith(body, isMalformed));
    // class-transformer converts values with `String()`, `Number()` and `new Date()`, and reads members of list items.
    if (error instanceof TypeError) refuse(fieldWith(body, cannotBeRead));
    throw error;
  }
}

function refuse(field: string | null): void {
  if (field === null) return;
  throw new ValidationFailed({ [field]: [{ key: 'validation.invalid', params: { field: named(field) } }] });
}

type Test = (part: unknown, key: string, depth: number) => boolean;

const cannotBeConverted: Test = (part, key, depth) =>
  RESERVED.has(key) || (depth > DEPTH_MAX && (isRecord(part) || Array.isArray(part)));

const cannotBeRead: Test = (part, key) => key === 'toString' || key === 'valueOf' || part === null;

const isMalformed: Test = (part) => typeof part === 'string' && /\p{Surrogate}/u.test(part);

/** The top-level field of a body that contains a part with a property; null without one. */
function fieldWith(body: unknown, test: Test): string | null {
  const holds = (part: unknown, key: string, depth: number): boolean =>
    test(part, key, depth) || partsOf(part).some(([name, below]) => holds(below, name, depth + 1));
  return partsOf(body).find(([key, part]) => holds(part, key, 1))?.[0] ?? null;
}

/** The members of a parsed object or list. Instances of classes, such as uploaded files, have none. */
export function partsOf(value: unknown): [string, unknown][] {
  const isPlain = isRecord(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value));
  return isPlain || Array.isArray(value) ? Object.entries(value) : [];
}

/** The library's texts of class-validator's rules. */
const MESSAGE_OF: Readonly<Record<string, CoreMessageKey>> = {
  isDefined: 'validation.required',
  isNotEmpty: 'validation.required',
  isString: 'validation.string',
  isObject: 'validation.object',
  isArray: 'validation.array',
  arrayMaxSize: 'validation.max_items',
  maxLength: 'validation.max_length',
  isEmail: 'validation.email',
};

/** A value that breaks one of these rules breaks others as well. Only the first of these is reported then. */
const ALONE = ['isDefined', 'isNotEmpty', 'isString', 'isObject', 'isArray', 'maxLength'];

/** The rules that one field breaks, with class-validator's texts. */
interface BrokenRules {
  /** The names of the field and of the objects that contain it. */
  readonly path: readonly string[];
  readonly texts: Readonly<Record<string, string>>;
}

/** Lists the broken rules of all fields, with those of nested objects and lists, in the order of the fields. */
function brokenRules(errors: readonly ValidationError[], parents: readonly string[] = []): BrokenRules[] {
  return errors.flatMap(({ property, constraints, children = [] }) => {
    const path = [...parents, property];
    return [...(constraints ? [{ path, texts: reported(constraints) }] : []), ...brokenRules(children, path)];
  });
}

function reported(constraints: Record<string, string>): Record<string, string> {
  const first = ALONE.find((rule) => rule in constraints);
  return first ? { [first]: constraints[first]! } : constraints;
}

/** The texts of the library for the errors of class-validator, by the path of the field. */
export function textsOf(errors: readonly ValidationError[]): Record<string, FieldText[]> {
  const entries = brokenRules(errors).map(({ path, texts }) => {
    const field = path.join('.');
    return [field, Object.entries(texts).map(([rule, text]) => textOf(rule, text, path.at(-1)!, field))] as const;
  });
  return Object.fromEntries(entries.slice(0, FIELDS_LISTED));
}

/** class-validator's default texts of the rules in {@link MESSAGE_OF}, after the name of the property. */
const DEFAULT_TEXT =
  /^ (?:should not be (?:null or undefined|empty)|must be an? (?:string|object|array|email)|must be shorter than or equal to (\d+) characters|must contain no more than (\d+) elements)$/;

const NOT_NESTED = / must be either object or array$/;

/** The library's text for a default text of class-validator; any other text unchanged, with the name of its rule as the code. */
function textOf(rule: string, text: string, property: string, field: string): FieldText {
  const params = { field: named(field) };
  if (rule === 'nestedValidation' && NOT_NESTED.test(text)) {
    const isList = text.startsWith(`each value in nested property ${property} `);
    return { key: isList ? 'validation.array' : 'validation.object', params };
  }
  const match = text.startsWith(property) ? DEFAULT_TEXT.exec(text.slice(property.length)) : null;
  const key = MESSAGE_OF[rule];
  return match && key ? { key, params: { ...params, max: match[1] ?? match[2] ?? '' } } : { code: key ?? rule, text };
}
