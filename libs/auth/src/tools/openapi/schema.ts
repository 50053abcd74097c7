/** A Schema Object of OpenAPI 3.0. {@link inVersion} converts it to 3.1. */
export type Schema = Readonly<Record<string, unknown>>;

export const TEXT: Schema = { type: 'string' };
export const FLAG: Schema = { type: 'boolean' };
export const INTEGER: Schema = { type: 'integer' };
export const OBJECT: Schema = { type: 'object' };
export const UUID: Schema = { type: 'string', format: 'uuid' };

/** ISO 8601 in UTC. */
export const TIME: Schema = { type: 'string', format: 'date-time' };

export const of = (schema: Schema, description: string): Schema => ({ ...schema, description });
export const orNull = (schema: Schema): Schema => ({ ...schema, nullable: true });
export const listOf = (items: Schema): Schema => ({ type: 'array', items });
export const oneOf = (...values: readonly (string | boolean)[]): Schema => ({
  type: typeof values[0] as 'string' | 'boolean',
  enum: values,
});

/** An object schema with exactly the members of `T`. All are required, except those in `optional`. */
export const record = <T extends object>(
  properties: { readonly [Name in keyof T]-?: Schema },
  optional: readonly (keyof T)[] = [],
): Schema => ({
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name as keyof T)),
  properties,
});

/** One of several schemas, without duplicates. */
export function anyOf(schemas: readonly Schema[]): Schema {
  const different = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
  return different.length === 1 ? different[0]! : { anyOf: different };
}

/** Converts part of a document to a version: from 3.1 on `nullable` becomes a type list with `null`. */
export function inVersion<T>(part: T, version: string): T {
  if (version.startsWith('3.0')) return part;
  return JSON.parse(JSON.stringify(part), (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('nullable' in value)) return value;
    const { nullable: _nullable, type, ...rest } = value as { nullable: true; type: string };
    return { type: [type, 'null'], ...rest };
  }) as T;
}

/** A response header. */
export interface HeaderObject {
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

const KNOWN: Readonly<Record<string, Schema>> = {
  'Retry-After': of(INTEGER, 'Seconds to wait.'),
  'WWW-Authenticate': of(TEXT, 'What the bearer credential lacks (RFC 6750, RFC 9470).'),
  'X-RateLimit-Limit': of(INTEGER, 'Requests that the tightest limit allows in its window.'),
  'X-RateLimit-Remaining': of(INTEGER, 'Requests it has left.'),
  'X-RateLimit-Reset': of(INTEGER, 'When it has room again, in unix seconds.'),
  'Set-Cookie': of(TEXT, 'The refresh cookie: set with new tokens, removed with its session.'),
  Location: of(TEXT, 'The page of the application that takes over.'),
};

/** A header by its name. @param value its value, if it is constant */
export function header(name: string, required: boolean, value?: string): HeaderObject {
  const { description, ...schema } = KNOWN[name] ?? TEXT;
  return {
    ...(typeof description === 'string' && { description }),
    ...(required && { required }),
    schema: value === undefined ? schema : { ...schema, enum: [value] },
  };
}
