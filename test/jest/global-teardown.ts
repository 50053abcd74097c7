import { rmSync } from 'node:fs';

export default async function globalTeardown(): Promise<void> {
  await globalThis.stores.redis?.stop();
  await globalThis.stores.postgres?.stop();
  if (globalThis.stores.directory) rmSync(globalThis.stores.directory, { recursive: true, force: true });
}
