/** A Schema Object of OpenAPI 3.0. `describeAuth` converts it to the version of the document. */
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

const DEFINITION = Symbol('svc.schema');

/** A reference to a schema with a name, which a document defines once: see {@link definitionsIn}. */
export const namedSchema = (name: string, schema: Schema): Schema =>
  Object.defineProperty({ $ref: `#/components/schemas/${name}` }, DEFINITION, { value: schema });

/** The schemas with a name to which a part of a document refers, also within each other. */
export function definitionsIn(part: unknown): Record<string, Schema> {
  if (typeof part !== 'object' || part === null) return {};
  const { [DEFINITION]: definition, $ref } = part as { [DEFINITION]?: Schema; $ref?: string };
  const own = definition && { [$ref!.split('/').at(-1)!]: definition };
  return Object.assign({}, own, ...[definition, ...Object.values(part)].map(definitionsIn));
}

/** A schema of an object with these fields. */
export function objectOf(properties: Readonly<Record<string, Schema>>, isRequired: (field: string) => boolean): Schema {
  const required = Object.keys(properties).filter(isRequired);
  return { type: 'object', ...(required.length && { required }), properties };
}
