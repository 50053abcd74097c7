export default async function globalTeardown(): Promise<void> {
  await globalThis.stores.redis?.stop();
  await globalThis.stores.postgres?.stop();
}
