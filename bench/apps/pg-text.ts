import { createRequire } from 'node:module';

const { prepareValue } = createRequire(__filename)('pg/lib/utils') as { prepareValue(value: unknown): unknown };

/** A value as node-postgres sends it to the server. Bytes are formatted as PostgreSQL prints them. */
export function pgText(value: unknown): string | null {
  const prepared = prepareValue(value);
  if (Buffer.isBuffer(prepared)) return `\\x${prepared.toString('hex')}`;
  return prepared === null || prepared === undefined ? null : String(prepared);
}
