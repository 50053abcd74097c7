import { SecurityStore } from '@svc/auth';

/** A store that keeps nothing, of which every operation seems to succeed. */
export class NullStore extends SecurityStore {
  readonly shared: boolean = false;
  scan = async function* () {};
  getMany = async (keys: readonly string[]): Promise<(string | null)[]> => keys.map(() => null);
  setMany = async () => undefined;
  add = async () => true;
  take = async (): Promise<string | null> => null;
  advance = async () => true;
  count = async () => ({ admitted: true, buckets: [] });
  settle = async () => undefined;
}
