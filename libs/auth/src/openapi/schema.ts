/** A schema object of OpenAPI 3.0, as far as one is used here; see {@link inVersion} for 3.1. */
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

/** An object with exactly the members of `T`; they must be there, unless they are named as optional. */
export const record = <T extends object>(
  properties: { readonly [Name in keyof T]-?: Schema },
  optional: readonly (keyof T)[] = [],
): Schema => ({
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name as keyof T)),
  properties,
});

/** One of several schemas, each named once. */
export function anyOf(schemas: readonly Schema[]): Schema {
  const different = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
  return different.length === 1 ? different[0]! : { anyOf: different };
}

/** Part of a document in its version: what may be null is said otherwise from 3.1 on. */
export function inVersion<T>(part: T, version: string): T {
  if (version.startsWith('3.0')) return part;
  return JSON.parse(JSON.stringify(part), (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('nullable' in value)) return value;
    const { nullable: _nullable, type, ...rest } = value as { nullable: true; type: string };
    return { type: [type, 'null'], ...rest };
  }) as T;
}
