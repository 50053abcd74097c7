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
  // The page of the change of the username is that of the change of the email.
  'change of email': [/email-?_?change(?!\.md)|HeldEmail/i, /^features\/email-change\//, 3],
  'change of the username': [/username-?_?change/i, /^features\/username-change\//, 3],
  notices: [/notice/i, /^features\/notices\//, 1],
  'trusted devices': [/trusted-?_?device|DeviceTrusted/i, /^features\/login-challenge\//, 6],
  'export and deletion of the account': [
    /account-?_?(?:deletion|export)|features\/account\//i,
    /^features\/account\//,
    3,
  ],
  // A passkey is registered, too, and so is an entity. The answers to a registration are part of opening an account.
  registration: [
    /RegistrationFlow|RegistrationForm|features\/registration|(?:features|options)\.registration/,
    /^features\/registration\//,
    3,
  ],
  // The event `PasswordReset` belongs to every replacement of a password with a mailed proof.
  'reset of the password': [/passwordReset\b|password-reset|reset-?token|ResetLinks/, /^features\/password-reset\//, 3],
  'verification of the email': [/email-?_?verification|verified-?_?email/i, /^features\/email-verification\//, 3],
  // The mail `passwordChanged` is one about every new password.
  'change of the password': [/changePassword|change-password|PasswordChangeFlow/, /^features\/change-password\//, 3],
};

const source = (file: string): string => readFileSync(join(SRC, file), 'utf8');

/** Without comments: they may name what they explain. */
const codeOf = (file: string): string => source(file).replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$|\s\/\/ .*$/gm, '');

const naming = (words: RegExp, own: RegExp): string[] =>
  files.filter((file) => !own.test(file) && words.test(codeOf(file)));

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
