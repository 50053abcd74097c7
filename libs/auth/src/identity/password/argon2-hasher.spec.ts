import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { AuthConfigError } from '../../foundation/platform/errors';
import { Argon2Hasher, type Argon2Library, argon2Library } from './argon2-hasher';
import { HashQueue } from './hash-queue';

interface Vectors {
  vectors: { password: string; encoded: string }[];
  hostile_stored_hash_params: string[];
}

const { vectors, hostile_stored_hash_params: hostile }: Vectors = JSON.parse(
  readFileSync(join(__dirname, '../../../../../test/vectors/argon2/argon2id.json'), 'utf8'),
);

const ARGON2I = '$argon2i$v=19$m=256,t=2,p=1$c29tZXNhbHQ$iekCn0Y3spW+sCcFanM2xBT63UP2sghkUoHLIUpWRS8';

const PASSWORD = 'correct-horse-battery';
const CHEAP = { memoryCost: 64, timeCost: 1, parallelism: 1 };
const queue = (): HashQueue => new HashQueue(2, 10);

const load = createRequire(__filename);
const without =
  (...missing: string[]) =>
  (name: string): unknown => {
    if (!missing.includes(name)) return load(name);
    throw Object.assign(new Error(`Cannot find module '${name}'`), { code: 'MODULE_NOT_FOUND' });
  };

const brokenNative = (name: string): unknown => {
  if (name === 'argon2') return load(name);
  throw new Error('Failed to load native binding');
};

const libraries = [argon2Library(without('@node-rs/argon2')), argon2Library(without('argon2'))] as const;

describe('the argon2 library', () => {
  it('is @node-rs/argon2 if it can be loaded, and argon2 otherwise', () => {
    expect(libraries.map(({ name }) => name)).toEqual(['argon2', '@node-rs/argon2']);
    expect(argon2Library(load).name).toBe('@node-rs/argon2');
    expect(argon2Library().name).toBe('@node-rs/argon2');
  });

  it('is argon2 if @node-rs/argon2 is installed but cannot be loaded', () => {
    expect(argon2Library(brokenNative).name).toBe('argon2');
  });

  it('causes an error with its install command if none is installed', () => {
    const none = without('argon2', '@node-rs/argon2');
    expect(() => argon2Library(none)).toThrow(AuthConfigError);
    expect(() => argon2Library(none)).toThrow('Run: npm install argon2');
  });

  it.each([
    ['argon2', '@node-rs/argon2', ...libraries],
    ['@node-rs/argon2', 'argon2', libraries[1], libraries[0]],
  ])('%s creates digests that %s verifies', async (_, __, maker, checker) => {
    for (const password of [PASSWORD, 'пароль 🔑', ' ', 'x'.repeat(1000)]) {
      const digest = await maker.hash(password, { memoryCost: 128, timeCost: 2, parallelism: 2 });
      expect(digest).toMatch(/^\$argon2id\$v=19\$m=128,t=2,p=2\$/);
      expect(await checker.verify(digest, password)).toBe(true);
      expect(await checker.verify(digest, `${password}x`)).toBe(false);
      expect(new Argon2Hasher({ memoryCost: 128, timeCost: 2, parallelism: 2 }, queue()).needsRehash(digest)).toBe(
        false,
      );
    }
  });
});

describe.each(libraries.map((library) => [library.name, library] as const))('the hasher on %s', (_, library) => {
  let hasher: Argon2Hasher;
  let hashes: jest.SpyInstance;

  beforeEach(() => {
    hasher = new Argon2Hasher(CHEAP, queue(), library);
    hashes = jest.spyOn(library, 'verify');
  });

  it.each(vectors)('verifies the vector $encoded', async ({ password, encoded }) => {
    expect(await hasher.verify(encoded, password)).toBe(true);
  });

  // The other vectors cost 64 MiB and more.
  it.each(vectors.filter(({ encoded }) => encoded.includes('m=256,')))(
    'does not verify another password with the vector $encoded',
    async ({ password, encoded }) => expect(await hasher.verify(encoded, `${password}x`)).toBe(false),
  );

  // From the test suite of the reference implementation (phc-winner-argon2, src/test.c).
  it.each(['$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA', ARGON2I])(
    'verifies the argon2i vector %s, also as Django stores it, and replaces it',
    async (encoded) => {
      for (const stored of [encoded, `argon2${encoded}`]) {
        expect(await hasher.verify(stored, 'password')).toBe(true);
        expect(hasher.needsRehash(stored)).toBe(true);
      }
      expect(await hasher.verify(ARGON2I, 'passwore')).toBe(false);
    },
  );

  it('creates a hash of the normalized password if the options say so, and replaces only hashes without a preparation', async () => {
    const normalizing = new Argon2Hasher({ ...CHEAP, normalize: 'NFKC' }, queue(), library);
    const [composed, decomposed] = ['p\u00e4ss\ufb01', 'pa\u0308ssfi'] as const;
    const digest = await normalizing.hash(decomposed);
    expect(digest).toMatch(/^NFKC:\$argon2id\$/);
    // Each hasher reads what is stored, whatever its own options are.
    for (const reader of [normalizing, hasher]) {
      expect(await reader.verify(digest, composed)).toBe(true);
      expect(await reader.verify(digest, decomposed)).toBe(true);
      expect(await reader.verify(digest, 'passfi')).toBe(false);
      expect(reader.needsRehash(digest)).toBe(false);
    }
    const exact = await hasher.hash(decomposed);
    expect(await normalizing.verify(exact, composed)).toBe(false);
    expect(normalizing.needsRehash(exact)).toBe(true);
    expect(normalizing.needsRehash(await hasher.hash(composed, ['72-bytes']))).toBe(false);
  });

  it('creates a different digest of the same password each time', async () => {
    const digests = await Promise.all([hasher.hash(PASSWORD), hasher.hash(PASSWORD)]);
    expect(new Set(digests).size).toBe(2);
    for (const digest of digests) expect(await hasher.verify(digest, PASSWORD)).toBe(true);
  });

  it('reports that a digest with other parameters, or an invalid one, needs a rehash', async () => {
    const digest = await hasher.hash(PASSWORD);
    expect(hasher.needsRehash(digest)).toBe(false);
    for (const [name, value] of Object.entries({ memoryCost: 65, timeCost: 2, parallelism: 2 })) {
      expect(new Argon2Hasher({ ...CHEAP, [name]: value }, queue(), library).needsRehash(digest)).toBe(true);
    }
    for (const other of ['', 'no digest', digest.replace('argon2id', 'argon2i'), ...hostile]) {
      expect(hasher.needsRehash(other)).toBe(true);
    }
  });

  const unusable: [string, string | null][] = [
    ['null', null],
    ['an empty string', ''],
    ['a plain-text password', PASSWORD],
    ['another algorithm', '$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy'],
    ...hostile.map((digest): [string, string] => ['a hostile digest', digest]),
  ];
  it.each(unusable)('does not match %s, at the cost of one hash: %s', async (_name, digest) => {
    expect(await hasher.verify(digest, PASSWORD)).toBe(false);
    // The decoy is hashed, independent of the cost of the digest.
    expect(hashes.mock.calls).toEqual([[expect.stringContaining('$m=64,t=1,p=1$'), PASSWORD]]);
  });

  it('verifies after the hash of its decoy has failed, and makes the decoy again', async () => {
    let fails = true;
    const hash: Argon2Library['hash'] = (...args) =>
      fails ? Promise.reject(new Error('out of memory')) : library.hash(...args);
    const digest = await new Argon2Hasher(CHEAP, queue(), library).hash(PASSWORD);
    const failing = new Argon2Hasher(CHEAP, queue(), { ...library, hash });
    expect(await failing.verify(digest, PASSWORD)).toBe(true);
    await expect(failing.verify(null, PASSWORD)).rejects.toThrow('out of memory');
    fails = false;
    expect(await failing.verify(null, PASSWORD)).toBe(false);
  });

  it('rejects when it cannot hash, without an unhandled rejection', async () => {
    const broken: Argon2Library = { ...library, hash: async () => Promise.reject(new Error('out of memory')) };
    const failing = new Argon2Hasher(CHEAP, queue(), broken);
    await expect(failing.hash(PASSWORD)).rejects.toThrow('out of memory');
    await expect(failing.verify(null, PASSWORD)).rejects.toThrow('out of memory');
  });
});
