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
