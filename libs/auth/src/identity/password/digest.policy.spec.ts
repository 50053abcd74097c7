import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAffordable, preparedPassword, storedHash } from './argon2-hasher';

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

const costOf = (text: string) => storedHash(text)?.cost;

describe('the cost of a digest', () => {
  it.each(vectors)(
    'of the reference implementation equals the parameters of the vector: $encoded',
    ({ t, m_KiB, p, encoded }) => {
      const cost = { memoryCost: m_KiB, timeCost: t, parallelism: p };
      expect(costOf(encoded)).toEqual(cost);
      expect(isAffordable(cost)).toBe(true);
    },
  );

  it('is read for every order of the parameters', () => {
    expect(costOf(digest('t=2,m=256,p=1'))).toEqual({ memoryCost: 256, timeCost: 2, parallelism: 1 });
    expect(costOf(digest('p=3,t=1,m=64'))).toEqual({ memoryCost: 64, timeCost: 1, parallelism: 3 });
  });

  it.each(hostile)('is unknown or too high for the hostile digest %s', (text) => {
    const cost = costOf(text);
    expect(cost !== undefined && isAffordable(cost)).toBe(false);
  });

  it.each([
    ['an empty string', ''],
    ['a text that is not a digest', 'no digest'],
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
  ])('is unknown for %s', (_, text) => expect(costOf(text)).toBeUndefined());
});

describe('a stored hash', () => {
  const phc = digest('m=256,t=2,p=1');
  const ofArgon2i = phc.replace('argon2id', 'argon2i');

  it.each<[string, string[], string, boolean]>([
    [phc, [], phc, true],
    [`NFKC:${phc}`, ['NFKC'], phc, true],
    [`NFC,trim,lowercase,72-bytes:${phc}`, ['NFC', 'trim', 'lowercase', '72-bytes'], phc, true],
    [`argon2${phc}`, [], phc, false],
    [ofArgon2i, [], ofArgon2i, false],
    [`argon2${ofArgon2i}`, [], ofArgon2i, false],
  ])('%s is parsed into its preparation and a PHC string', (text, preparation, expected, isOwnForm) => {
    expect(storedHash(text)).toMatchObject({ preparation, phc: expected, isOwnForm });
  });

  it.each([
    `:${phc}`,
    `NFKD:${phc}`,
    `NFKC,:${phc}`,
    `NFKC:NFC:${phc}`,
    `NFKC${phc}`,
    `NFKC:argon2${phc}`,
    `argon2:${phc}`,
    `$${phc}`,
  ])('%s is unknown', (text) => expect(storedHash(text)).toBeUndefined());
});

describe('a prepared password', () => {
  const x = (length: number): string => 'x'.repeat(length);

  it.each<[string, Parameters<typeof preparedPassword>[1], string, string]>([
    ['nothing', [], ' Pa\u0308ss\ufb01 ', ' Pa\u0308ss\ufb01 '],
    ['NFC', ['NFC'], 'pa\u0308ss\ufb01', 'p\u00e4ss\ufb01'],
    ['NFKC', ['NFKC'], 'pa\u0308ss\ufb01', 'p\u00e4ssfi'],
    ['spaces at both ends', ['trim'], ' \t\r\n\vp w\u00a0 ', 'p w\u00a0'],
    ['upper case', ['lowercase'], 'P\u00c4SS', 'p\u00e4ss'],
    ['several changes in one order', ['lowercase', 'trim', 'NFKC'], ' P\ufb01 ', 'pfi'],
    ['an order that no verifier can change', ['trim', 'NFKC'], '\u3000p', 'p'],
    ['72 bytes, of 72', ['72-bytes'], x(72), x(72)],
    ['72 bytes, of 73', ['72-bytes'], x(73), x(72)],
    ['72 bytes, of 36 characters of two bytes', ['72-bytes'], '\u00e4'.repeat(37), '\u00e4'.repeat(36)],
    ['72 bytes, of a short text', ['72-bytes'], '\u00e4', '\u00e4'],
  ])('is without %s', (_, preparation, password, expected) => {
    expect(preparedPassword(password, preparation)).toBe(expected);
  });

  // bcrypt compares these bytes, also where a character is not complete.
  it.each(
    [0, 1, 2, 3, 4].flatMap((before) =>
      ['\u00e4', '\u0800', '\ud7ff', '\uffee', '\u{10000}', '\u{1f511}', '\u{10ffff}'].map(
        (character) => [before, character] as const,
      ),
    ),
  )('keeps the first 72 bytes if %d of them precede the end of %s, and nothing else', (before, character) => {
    const password = `${x(72 - before)}${character}tail`;
    const prepared = preparedPassword(password, ['72-bytes']);
    const [whole, kept] = [password, prepared].map((text) => Buffer.from(text).subarray(0, 72));
    expect(kept).toEqual(whole);
    // Any other password with these bytes.
    for (const other of [`${prepared}another`, prepared]) expect(preparedPassword(other, ['72-bytes'])).toBe(prepared);
  });

  it('is equal for two characters that differ only after the 72nd byte', () => {
    for (const [one, other] of ['\u00e4\u00f6', '\u0801\u0fff', '\u{10001}\u{3ffff}'].map((pair) => [...pair]))
      expect(preparedPassword(x(71) + one!, ['72-bytes'])).toBe(preparedPassword(x(71) + other!, ['72-bytes']));
  });
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
