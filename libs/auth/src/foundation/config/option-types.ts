import { types } from 'node:util';
import type { OptionSpec } from './option-table';

const NAMES: readonly (readonly [is: (value: object) => boolean, name: string])[] = [
  [(value) => typeof (value as { then?: unknown }).then === 'function', 'a promise'],
  [(value) => Array.isArray(value), 'an array'],
  [(value) => value instanceof Uint8Array, 'a Buffer'],
  [(value) => value instanceof URL, 'a URL object'],
  [(value) => types.isKeyObject(value), 'a KeyObject'],
];

/** The kind of a value, without the value, which may be a secret: `a promise`. */
export function typeNameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'object') return NAMES.find(([is]) => is(value))?.[1] ?? 'an object';
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`;
}

const CURES: Readonly<Record<string, string>> = {
  'a Buffer': "such as buffer.toString('hex')",
  'a URL object': 'such as url.href',
  'a KeyObject': "such as key.export({ type: 'pkcs8', format: 'pem' })",
};

/** Whether an option is a promise, which nothing awaits. */
export const isPromise = (value: unknown): boolean => typeNameOf(value) === 'a promise';

/** What is wrong with the type of a text or of a list of texts, with the cure; undefined for any other option. */
export function typeFault({ kind, or }: OptionSpec, value: unknown): string | undefined {
  if (isPromise(value)) return 'is a promise: await it.';
  if (or === 'text' && typeof value === 'string') return undefined;
  if (kind === 'list') return listFault(value);
  if (kind !== 'text' || typeof value === 'string') return undefined;
  if (or === 'function' && typeof value === 'function') return undefined;
  const hasOther = or === null || or === false;
  if (hasOther && value === or) return undefined;
  return `is ${typeNameOf(value)}. Use a text${hasOther ? ` or ${String(or)}` : ''}${cureOf(value)}.`;
}

function listFault(value: unknown): string | undefined {
  if (!Array.isArray(value)) return `is ${typeNameOf(value)}. Use a list of texts: ['…'].`;
  const others: unknown[] = value.filter((one) => typeof one !== 'string');
  if (!others.length) return undefined;
  return `has an entry that is ${typeNameOf(others[0])}. Use a list of texts${cureOf(others[0])}.`;
}

function cureOf(value: unknown): string {
  const cure = CURES[typeNameOf(value)];
  return cure ? `, ${cure}` : '';
}
