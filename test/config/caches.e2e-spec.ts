import { createCache } from 'cache-manager';
import { createDatabase } from '../support/stores/database';
import { NullStore } from '../support/stores/null-store';
import { startOnce } from '../support/hosts/start-once';

let database: Awaited<ReturnType<typeof createDatabase>>;

beforeAll(async () => (database = await createDatabase()));
afterAll(() => database.drop());

const start = (cache: object | undefined) => startOnce(database.url, { cache });

describe('a cache that is no store', () => {
  /** A cache-manager cache with these methods in the place of its own. */
  const cacheWith = (methods: object): object => Object.assign(createCache(), methods);

  /** A client of Redis that swallows every error. */
  const swallowingClient = { on: () => undefined, sendCommand: async () => null };

  it.each<[string, () => object, RegExp]>([
    ['an empty object', () => ({}), /it has no method get/],
    ['a Map', () => new Map(), /it has no method del/],
    ['a cache that returns nothing', () => cacheWith({ get: async () => undefined }), /it loses what it is given/],
    ['a cache that does not delete', () => cacheWith({ del: async () => true }), /it keeps what is deleted/],
    [
      'a cache whose entries do not expire',
      () => {
        const values = new Map();
        return { set: values.set.bind(values), get: values.get.bind(values), del: values.delete.bind(values) };
      },
      /it keeps what has expired/,
    ],
    [
      'a cache that throws',
      () => cacheWith({ set: () => Promise.reject(new RangeError('hidden')) }),
      /it throws RangeError/,
    ],
    [
      'a SecurityStore that swallows errors',
      () => Object.assign(new NullStore(), { shared: true }),
      /it loses what it is given/,
    ],
    ['a client that swallows errors', () => swallowingClient, /it throws TypeError/],
  ])('is refused by what it does, in development too: %s', async (_, cache, fault) => {
    const error = await start(cache()).catch((e: Error) => e);
    expect(error).toMatchObject({ name: 'AuthConfigError', message: expect.stringMatching(fault) });
    expect(error).toMatchObject({ message: expect.stringMatching(/^cache is no store: .*Set redis\.url/) });
    expect(String(error)).not.toContain('hidden');
  });

  it.each<[string, () => object | undefined]>([
    ['in the memory of the process', () => createCache()],
    ['that the host does not set', () => undefined],
    [
      'whose server is away',
      () => cacheWith({ set: () => Promise.reject(Object.assign(new Error(), { code: 'ECONNREFUSED' })) }),
    ],
  ])('is not one %s, in development', async (_, cache) => {
    await expect(start(cache())).resolves.toBeUndefined();
  });
});
