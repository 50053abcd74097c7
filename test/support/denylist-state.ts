import type { Client } from './stores';

/** The key that names the epoch of the last finished rebuild. */
export const LATEST = 'svc:dl:epoch';

/** Whether the denylist in Redis is complete again. A rebuild that ends after the next loss names an epoch that is lost, too. */
export async function isRebuilt(client: Client): Promise<boolean> {
  const latest = await client.get(LATEST);
  return latest !== null && (await client.exists(`${LATEST}:${latest}`)) === 1;
}
