/** Ten letters and digits, twice: about 119 bits. */
export const RECOVERY_CODE = /^[A-Za-z0-9]{10}-[A-Za-z0-9]{10}$/;

/** Codes of one set at most. Each of them is a slow hash to whoever tries one. */
export const MOST_CODES = 100;

/** The stored hashes of the codes that are left; none where the column holds no list of texts, or too long a one. */
export function hashesIn(column: string | null): string[] {
  try {
    const list: unknown = JSON.parse(column ?? '[]');
    const isSet = Array.isArray(list) && list.length <= MOST_CODES && list.every((one) => typeof one === 'string');
    return isSet ? list : [];
  } catch {
    return [];
  }
}

/** The column without one of its hashes; null where it is not there. */
export function without(column: string | null, hash: string): string | null {
  const hashes = hashesIn(column);
  return hashes.includes(hash) ? JSON.stringify(hashes.filter((one) => one !== hash)) : null;
}
