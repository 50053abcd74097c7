import type { Client } from './stores';

/** Names the epoch whose rebuild was finished last. */
export const LATEST = 'svc:dl:epoch';

/** Whether the denylist was told again. A rebuild that ends after the next loss names an epoch that is lost, too. */
export async function isTold(client: Client): Promise<boolean> {
  const latest = await client.get(LATEST);
  return latest !== null && (await client.exists(`${LATEST}:${latest}`)) === 1;
}
