// node examples/run.mjs <name>: installs an example with the packed library, starts its stores and runs it.
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const require = createRequire(import.meta.url);
try {
  require('../test/support/runtime/register-ts.cjs');
} catch {
  console.error('Run npm ci in the root of this repository first.');
  process.exit(1);
}
const { freePort, isFree, startEmbeddedPostgres } = require('../apps/sample/src/dev/embedded-postgres.ts');
const { ExampleProcess, examples, installExample } = require('../test/support/packages/example-process.ts');
const { RedisServer, redisBinary } = require('../test/support/stores/redis.ts');

const known = examples();
const name = process.argv[2];
if (!known.has(name)) {
  console.error('Usage: node examples/run.mjs <name>\n');
  for (const [example, description] of known) console.error(`  ${example.padEnd(16)} ${description}`);
  process.exit(1);
}

/** Steps that undo what has been started, the latest first. */
const steps = [];
let stopping;
const stop = () => (stopping ??= steps.reduce((before, step) => before.then(step), Promise.resolve()));

const { EXAMPLE_DATABASE_URL, EXAMPLE_REDIS_URL } = process.env;

/**
 * The PostgreSQL of EXAMPLE_DATABASE_URL, or a new one that is deleted at the end. DATABASE_URL can be the database of
 * another application, in which the example would create its tables.
 */
async function databaseUrl() {
  if (EXAMPLE_DATABASE_URL) return EXAMPLE_DATABASE_URL;
  const directory = mkdtempSync(join(tmpdir(), 'svc-example-data-'));
  // If root runs this, the server runs as another user and needs access to the directory.
  chmodSync(directory, 0o711);
  steps.unshift(() => rmSync(directory, { recursive: true, force: true }));
  const server = await startEmbeddedPostgres(join(directory, 'data'));
  steps.unshift(() => server.stop());
  return server.url;
}

/** The Redis of EXAMPLE_REDIS_URL, or a new one if its server is installed. */
async function redisUrl() {
  if (EXAMPLE_REDIS_URL) return EXAMPLE_REDIS_URL;
  if (!redisBinary) return undefined;
  const server = await RedisServer.start();
  steps.unshift(() => server.stop());
  return server.url;
}

/** Where a store is: without the user, the password and the parameters, which can contain a password, too. */
function addressOf(store) {
  if (!URL.canParse(store)) return 'set';
  const { protocol, host, pathname } = new URL(store);
  return `${protocol}//${host}${pathname}`;
}

/** The next free port from PORT (3000) on. */
let next = Number(process.env.PORT) || 3000;
async function port() {
  for (const end = next + 20; next < end;) if (await isFree(next++)) return next - 1;
  return freePort();
}

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void stop().then(() => process.exit(0)));

try {
  console.log(`Installing and building ${name}. The first time takes about a minute.`);
  const step = (text) => console.log(`- ${text}`);
  const instead = name === 'nextjs' && process.env.AUTH_MODE === 'token' ? 'token-mode' : undefined;
  const folder = installExample(name, { isAlone: true, onStep: step, instead });
  step('starting its stores');
  const [database, redis] = [await databaseUrl(), await redisUrl()];
  const { REDIS_URL: _, SVC_REDIS_URL: __, ...inherited } = process.env;
  const variables = {
    ...inherited,
    SVC_SECRET: process.env.SVC_SECRET ?? randomBytes(32).toString('hex'),
    SVC_ENCRYPTION_KEY: process.env.SVC_ENCRYPTION_KEY ?? randomBytes(32).toString('hex'),
    DATABASE_URL: database,
    ...(redis && { REDIS_URL: redis, SVC_REDIS_URL: redis }),
  };
  if (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).scripts.setup) step('npm run setup');
  const host = await ExampleProcess.start(folder, variables, port, (text) => process.stdout.write(text));
  steps.unshift(() => host.stop());
  const stores = `Its database is ${addressOf(database)}, its Redis ${redis ? addressOf(redis) : 'is missing'}.`;
  console.log(`\n${name} is installed in ${folder}. ${stores}`);
  for (const [part, url] of Object.entries(host.urls)) console.log(`${part}: ${url}`);
  console.log('Ctrl-C stops everything.');
} catch (error) {
  console.error(error.message);
  await stop();
  process.exit(1);
}
