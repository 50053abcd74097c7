import { modulesOf, quickStartUsers } from '../docs/page-modules';
import { type TestDatabase, createEmptyDatabase } from '../support/stores/database';
import { sharedRedisUrl } from '../support/stores/shared-redis';
import { describeWithRedis } from '../support/stores/with-redis';

const GIVEN = { './users.js': quickStartUsers() };

// The tests of a page are registered in the surrounding `describe` block.
describe('the recipe for unit tests', () => {
  modulesOf('docs/recipes/tests.md', GIVEN, ['src/orders.controller.spec.ts']);
});

/** Runs the tests that the page shows, on a new database. */
function runEndToEnd(redisUrl: () => string | undefined): void {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createEmptyDatabase();
    const [secret, prefix] = ['a-secret-of-the-recipe-0123456789-abcdef', `recipe-${database.url.split('/').pop()}:`];
    Object.assign(process.env, { DATABASE_URL: database.url, SVC_SECRET: secret, SVC_KEY_PREFIX: prefix });
    if (redisUrl()) process.env.REDIS_URL = redisUrl();
    else delete process.env.REDIS_URL;
  });
  afterAll(() => database.drop());

  modulesOf('docs/recipes/tests.md', GIVEN, ['test/app.e2e-spec.ts']);
}

describe('the recipe for end-to-end tests, without Redis', () => {
  runEndToEnd(() => undefined);
});

describeWithRedis('the recipe for end-to-end tests, with Redis', () => {
  runEndToEnd(sharedRedisUrl);
});
