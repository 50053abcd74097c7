import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createEmptyDatabase } from '../support/database';
import { Sample } from '../support/sample';
import { describeWithRedis, sharedRedisUrl } from '../support/with-redis';

describeWithRedis("the sample's API document", () => {
  const statuses = async (env: Record<string, string>) => {
    const database = await createEmptyDatabase();
    const sample = await Sample.launch({
      DATABASE_URL: database.url,
      REDIS_URL: sharedRedisUrl()!,
      SVC_KEY_PREFIX: `${randomUUID()}:`,
      SVC_SECRET: 's'.repeat(64),
      SVC_ENCRYPTION_KEY: 'e'.repeat(64),
      ...env,
    });
    await sample.ready();
    const answers = await Promise.all([sample.status('/docs'), sample.call('GET', '/docs-json')]);
    await sample.stop();
    await database.drop();
    return answers;
  };

  it('is served during development, as it is committed', async () => {
    // With a mailbox the sample has its whole life.
    const [page, { body }] = await statuses({ NODE_ENV: 'development' });
    expect(page).toBe(200);
    expect(body).toEqual(JSON.parse(readFileSync(join(__dirname, '../../docs/openapi.json'), 'utf8')));
  }, 60_000);

  it('is not served in production', async () => {
    const production = { NODE_ENV: 'production', PUBLIC_URL: 'https://orders.example.com' };
    const [page, { status }] = await statuses(production);
    expect([page, status]).toEqual([404, 404]);
  }, 60_000);
});
