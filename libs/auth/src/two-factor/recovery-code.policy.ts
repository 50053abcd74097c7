/** Ten letters and digits, twice: about 119 bits. */
export const RECOVERY_CODE = /^[A-Za-z0-9]{10}-[A-Za-z0-9]{10}$/;

/** The stored hashes of the codes that are left; none where the column holds no list of texts. */
export function hashesIn(column: string | null): string[] {
  try {
    const list: unknown = JSON.parse(column ?? '[]');
    return Array.isArray(list) && list.every((one) => typeof one === 'string') ? list : [];
  } catch {
    return [];
  }
}

/** The column without one of its hashes; null where it is not there. */
export function without(column: string | null, hash: string): string | null {
  const hashes = hashesIn(column);
  return hashes.includes(hash) ? JSON.stringify(hashes.filter((one) => one !== hash)) : null;
}
