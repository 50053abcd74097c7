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
  'mailed code': [/e-?mail-?_?code|login\/code|signInCode/i, /^features\/email-code\//, 3],
  'known devices': [/known-?_?device|SignInReport/i, /^features\/known-devices\//, 3],
  'change of email': [/email-?_?change|HeldEmail/i, /^features\/email-change\//, 6],
  'change of the username': [/username-?_?change/i, /^features\/username-change\//, 5],
  'trusted devices': [/trusted-?_?device|DeviceTrusted/i, /^features\/login-challenge\//, 3],
  // The features with a factor enrol it with these services. The answer of a sign-in names the enrolment for all.
  'required second factors': [
    /RequiredFactors|LoginEnrolments|EnrolmentTokens|enrolmentRefusals/,
    /^features\/(?:login-challenge|two-factor|passkeys)\//,
    0,
  ],
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

  it('with a second factor is not named by the features that ask for it, nor by another factor', () => {
    const code = (file: string): string =>
      readFileSync(join(SRC, file), 'utf8').replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, '');
    const namedIn = (folders: RegExp, words: RegExp): string[] =>
      files.filter((file) => folders.test(file) && words.test(code(file)));
    const base = /^features\/(?:login|login-challenge|step-up)\//;
    expect(namedIn(base, /passkey(?!Id)|totp|recovery_?-?code|features\.twoFactor/i)).toEqual([]);
    expect(namedIn(/^features\/two-factor\//, /passkey/i)).toEqual([]);
    expect(namedIn(/^features\/passkeys\//, /totp|recovery_?-?code|features\.twoFactor/i)).toEqual([]);
  });

  it('is found where a file names it', () => {
    const [words, own] = FEATURES['mailed code']!;
    expect(naming(words, own)).toEqual(expect.arrayContaining(['features.ts', 'index.ts']));
  });
});
