import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestCost, isAffordable } from './argon2-hasher';

interface Vectors {
  vectors: { t: number; m_KiB: number; p: number; encoded: string }[];
  hostile_stored_hash_params: string[];
}

const { vectors, hostile_stored_hash_params: hostile }: Vectors = JSON.parse(
  readFileSync(join(__dirname, '../../../../../test/vectors/argon2/argon2id.json'), 'utf8'),
);

const SALT = 'c29tZXNhbHQ';
const HASH = 'nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4';
const digest = (parameters: string, salt = SALT, hash = HASH) => `$argon2id$v=19$${parameters}$${salt}$${hash}`;

describe('the cost of a digest', () => {
  it.each(vectors)(
    'of the reference implementation equals the parameters of the vector: $encoded',
    ({ t, m_KiB, p, encoded }) => {
      const cost = { memoryCost: m_KiB, timeCost: t, parallelism: p };
      expect(digestCost(encoded)).toEqual(cost);
      expect(isAffordable(cost)).toBe(true);
    },
  );

  it('is read for every order of the parameters', () => {
    expect(digestCost(digest('t=2,m=256,p=1'))).toEqual({ memoryCost: 256, timeCost: 2, parallelism: 1 });
    expect(digestCost(digest('p=3,t=1,m=64'))).toEqual({ memoryCost: 64, timeCost: 1, parallelism: 3 });
  });

  it.each(hostile)('is unknown or too high for the hostile digest %s', (text) => {
    const cost = digestCost(text);
    expect(cost !== undefined && isAffordable(cost)).toBe(false);
  });

  it.each([
    ['an empty string', ''],
    ['a text that is not a digest', 'no digest'],
    ['an argon2i digest', digest('m=256,t=2,p=1').replace('argon2id', 'argon2i')],
    ['an argon2d digest', digest('m=256,t=2,p=1').replace('argon2id', 'argon2d')],
    ['an older version', digest('m=256,t=2,p=1').replace('v=19', 'v=16')],
    ['a digest without a version', digest('m=256,t=2,p=1').replace('v=19$', '')],
    ['a digest without parameters', digest('')],
    ['a digest with two parameters', digest('m=256,t=2')],
    ['a memory of 0', digest('m=0,t=2,p=1')],
    ['0 passes', digest('m=256,t=0,p=1')],
    ['0 lanes', digest('m=256,t=2,p=0')],
    ['a negative memory', digest('m=-256,t=2,p=1')],
    ['a fractional memory', digest('m=256.5,t=2,p=1')],
    ['a hexadecimal memory', digest('m=0x100,t=2,p=1')],
    ['a memory of eleven digits', digest('m=10000000000,t=2,p=1')],
    ['an empty salt', digest('m=256,t=2,p=1', '')],
    ['a salt of seven bytes', digest('m=256,t=2,p=1', 'c29tZXNhbA')],
    ['an empty hash', digest('m=256,t=2,p=1', SALT, '')],
    ['a hash of 15 bytes', digest('m=256,t=2,p=1', SALT, 'A'.repeat(20))],
    ['a hash of many kilobytes', digest('m=256,t=2,p=1', SALT, 'A'.repeat(100_000))],
    ['a salt with padding', digest('m=256,t=2,p=1', `${SALT}=`)],
    ['a hash in the URL alphabet', digest('m=256,t=2,p=1', SALT, HASH.replace('/', '_'))],
    ['a digest before a line break', `${digest('m=256,t=2,p=1')}\n`],
    ['a digest after a space', ` ${digest('m=256,t=2,p=1')}`],
  ])('is unknown for %s', (_, text) => expect(digestCost(text)).toBeUndefined());
});

describe('a digest is affordable', () => {
  it.each<[number, number, number, boolean]>([
    [19_456, 2, 1, true],
    [524_288, 2, 16, true],
    [1_048_577, 1, 1, false],
    [524_288, 3, 1, false],
    [65_536, 16, 1, true],
    [8, 17, 1, false],
    [256, 1, 16, true],
    [256, 1, 17, false],
  ])('with %d KiB, %d passes and %d lanes: %s', (memoryCost, timeCost, parallelism, affordable) => {
    expect(isAffordable({ memoryCost, timeCost, parallelism })).toBe(affordable);
  });
});
