const MAX_NAME_BYTES = 128;
const MAX_SCOPE_BYTES = 2048;
const MAX_SHOWN = 120;

// RFC 6749 §3.3 scope-token, without the comma: one ability must never parse as two.
const NAME = /^[\x21\x23-\x2B\x2D-\x5B\x5D-\x7E]+$/;

/** What is wrong with one ability name, or undefined. */
export function flawOf(name: unknown): string | undefined {
  if (typeof name !== 'string') return `An ability must be a string, not ${name === null ? 'null' : typeof name}.`;
  if (name.length > MAX_NAME_BYTES) return `The ability "${shown(name)}" is longer than ${MAX_NAME_BYTES} bytes.`;
  if (!NAME.test(name))
    return `The ability "${shown(name)}" has characters outside RFC 6749's scope-token, or a comma.`;
  return undefined;
}

/** What is wrong with the abilities together, or undefined: a header of many kilobytes fails at the proxy. */
export const flawOfScope = (scope: string): string | undefined =>
  scope.length > MAX_SCOPE_BYTES ? `The abilities together are longer than ${MAX_SCOPE_BYTES} bytes.` : undefined;

// Offending values reach logs; a request must not be able to fill them.
const shown = (name: string): string => (name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name);
