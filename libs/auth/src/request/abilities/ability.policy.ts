const MAX_NAME_BYTES = 128;
const MAX_SCOPE_BYTES = 2048;
const MAX_SHOWN = 120;

// RFC 6749 §3.3 scope-token without the comma, because a comma separates names: one ability must never parse as two.
const NAME = /^[\x21\x23-\x2B\x2D-\x5B\x5D-\x7E]+$/;

/** Returns the fault of one ability name, or undefined. */
export function flawOf(name: unknown): string | undefined {
  if (typeof name !== 'string') return `An ability must be a string, not ${name === null ? 'null' : typeof name}.`;
  if (name === '') return 'An ability must not be empty. To grant no ability, use an empty list.';
  if (name.length > MAX_NAME_BYTES) return `The ability "${shown(name)}" is longer than ${MAX_NAME_BYTES} bytes.`;
  if (!NAME.test(name))
    return `The ability "${shown(name)}" has characters outside RFC 6749's scope-token, or a comma.`;
  return undefined;
}

/** Returns the fault of the whole scope, or undefined. The size is limited because proxies refuse long headers. */
export const flawOfScope = (scope: string): string | undefined =>
  scope.length > MAX_SCOPE_BYTES ? `The abilities together are longer than ${MAX_SCOPE_BYTES} bytes.` : undefined;

// Invalid values appear in logs, so their length is limited.
const shown = (name: string): string => (name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name);
