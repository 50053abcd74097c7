import { createRequire } from 'node:module';

const { prepareValue } = createRequire(__filename)('pg/lib/utils') as { prepareValue(value: unknown): unknown };

/** A value as node-postgres writes it to the server. */
export function textOf(value: unknown): string | null {
  const prepared = prepareValue(value);
  return prepared === null || prepared === undefined ? null : String(prepared);
}
