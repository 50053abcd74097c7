import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const SRC = join(__dirname, '../../libs/auth/src');

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !/(?:spec|testkit)\.ts$/.test(file),
);

/**
 * The words that name a feature, the folder of the feature, and the greatest number of files outside it that contain one of
 * the words. The aim is 3: the list of features, the public exports, and the type of the options.
 */
const FEATURES: Readonly<Record<string, readonly [words: RegExp, own: RegExp, files: number]>> = {
  'mailed code': [/e-?mail-?_?code|login\/code|signInCode/i, /^features\/email-code\//, 4],
  'known devices': [/known-?_?device|SignInReport/i, /^features\/known-devices\//, 5],
  'change of email': [/email-?_?change|HeldEmail/i, /^features\/email-change\//, 8],
  'change of the username': [/username-?_?change/i, /^features\/username-change\//, 6],
  'trusted devices': [/trusted-?_?device|DeviceTrusted/i, /^features\/login-challenge\//, 9],
  'export and deletion of the account': [/account-?_?(?:deletion|export)/i, /^features\/account\//, 4],
};

const naming = (words: RegExp, own: RegExp): string[] =>
  files.filter((file) => !own.test(file) && words.test(readFileSync(join(SRC, file), 'utf8')));

describe('a feature', () => {
  it.each(Object.entries(FEATURES))('is named outside its folder in few files: %s', (_, [words, own, most]) => {
    const found = naming(words, own);
    expect([found, found.length <= most]).toEqual([found, true]);
    // A number that is too high hides the next file.
    expect(found.length).toBe(most);
  });

  it('is found where a file names it', () => {
    const [words, own] = FEATURES['mailed code']!;
    expect(naming(words, own)).toEqual(expect.arrayContaining(['features.ts', 'index.ts']));
  });
});

/** The code of a file, without its comments. */
const codeOf = (file: string): string =>
  readFileSync(join(SRC, file), 'utf8').replaceAll(/\/\*[^]*?\*\/|(?<!:)\/\/.*$/gm, '');

describe('a feature with a factor', () => {
  // Features that ask for every factor are not among these files.
  const ASKING = /^features\/(?:login|login-challenge|step-up|two-factor|passkeys)\//;
  const lists = ['features.ts', 'foundation/config/auth-options.ts', 'index.ts', 'tools/testing/index.ts'];

  it.each<[name: string, words: RegExp, more: string[]]>([
    ['passkeys', /passkey/i, ['foundation/ports/presenter.ts']],
    [
      'codes',
      // "Two factors" are those of every kind. The lock and the limit of wrong codes are those of every factor.
      /two-?_?factor(?!s)|recovery_?-?code|totp/i,
      [
        'foundation/ports/presenter.ts',
        'request/lockout/attempt-guard.ts',
        'request/lockout/lockout.store.ts',
        'tools/cli/distance-checks.ts',
        'tools/cli/user-checks.ts',
        'tools/testing/user-provider-contract.ts',
      ],
    ],
  ])('is named in the lists, and in few other files: %s', (_, words, more) => {
    const found = files.filter((file) => !ASKING.test(file) && words.test(codeOf(file)));
    expect(found.toSorted()).toEqual([...lists, ...more].toSorted());
  });
});
