type Block = Record<string, unknown>;

const isBlock = (value: unknown): value is Block =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/**
 * Merges options; later layers take precedence. Plain objects are merged recursively; lists, scalars, functions and
 * instances are replaced; `undefined` is ignored.
 */
export function merge(...layers: unknown[]): Block {
  const merged: Block = {};
  for (const layer of layers.filter(isBlock)) {
    for (const [key, value] of Object.entries(layer)) {
      if (value === undefined) continue;
      merged[key] = isBlock(value) ? merge(merged[key], value) : value;
    }
  }
  return merged;
}

/**
 * Returns a whole number within bounds. A value that is not a number is replaced by the fallback, never by 0: a limit
 * of 0 would refuse every request, a lifetime of 0 would end every session.
 */
export function wholeNumber(value: unknown, fallback: number, min: number, max = Number.MAX_SAFE_INTEGER): number {
  const given = typeof value === 'string' && value.trim() ? Number(value) : value;
  if (typeof given !== 'number' || !Number.isFinite(given)) return fallback;
  return Math.min(max, Math.max(min, Math.trunc(given)));
}
