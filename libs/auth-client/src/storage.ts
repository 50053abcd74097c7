import { STORAGE_MS, unlessAborted, within } from './http.js';
import type { TokenStorage } from './types.js';

/** The storage of the host, of which each call ends: it is rejected after {@link STORAGE_MS}. */
export const inTime = (storage: TokenStorage): TokenStorage => {
  const call =
    <K extends keyof TokenStorage>(method: K) =>
    (...args: string[]) =>
      unlessAborted(
        within(STORAGE_MS),
        (async () => (storage[method] as (...all: string[]) => Promise<string | null>)(...args))(),
      );
  return { getItem: call('getItem'), setItem: call('setItem'), removeItem: call('removeItem') };
};
