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
  // The list of features and the type of the options. Its public names have an entry of their own.
  identities: [
    /features\/identities|IdentityProvider|IdentitiesOptions|svc-identities|svc_identities/,
    /^features\/identities\//,
    2,
  ],
  // The list of features, the type of the options, and the security scheme in the description of routes.
  'access keys': [/access-?_?keys?/i, /^features\/access-keys\//, 3],
  // The list of features and the type of the options. The core binds tokens, and knows no kind of proof.
  'bound sessions': [/bound-?_?sessions?|boundTokens|dpop\b(?!')/i, /^features\/bound-sessions\//, 2],
  // The list of features and the type of the options.
  'the history of accounts': [/svc_audit|features\/operators|\baudit(?:\b|[A-Z])/i, /^features\/operators\//, 2],
  // The list of features and the type of the options. What a feature changes in words of CAEP is in the manifest of each.
  'security events': [
    /securityEventTokens|\.securityEvents\b|SecurityEventsOptions|operators\/delivery|SecurityEvent(?:Row|Delivery)/,
    /^features\/operators\//,
    2,
  ],
  tickets: [/features\/tickets\/|AcceptsTicket|TicketGate|auth\.tickets/, /^features\/tickets\//, 2],
  notices: [/notice/i, /^features\/notices\//, 1],
  'trusted devices': [/trusted-?_?device|DeviceTrusted/i, /^features\/login-challenge\//, 2],
  // The features with a factor enrol it with these services, which the kit offers. The answer of a sign-in names the enrolment for all.
  'required second factors': [
    /RequiredFactors|LoginEnrolments|EnrolmentTokens|enrolmentRefusals/,
    /^features\/(?:login-challenge|two-factor|passkeys)\/|^kit\//,
    0,
  ],
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

  it('with a second factor is not named by the features that ask for it, nor by another factor', () => {
    const namedIn = (folders: RegExp, words: RegExp): string[] =>
      files.filter((file) => folders.test(file) && words.test(codeOf(file)));
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

describe('a feature with a factor', () => {
  // Features that ask for every factor are not among these files.
  const ASKING = /^features\/(?:login|login-challenge|step-up|two-factor|passkeys)\//;
  const lists = ['features.ts', 'foundation/config/auth-options.ts', 'index.ts', 'tools/testing/index.ts'];

  it.each<[name: string, words: RegExp, more: string[]]>([
    // The user of the last way to sign in learns which others there are.
    [
      'passkeys',
      /passkey/i,
      ['features/identities/identities.languages.ts', 'features/identities/identities.texts.ts'],
    ],
    [
      'codes',
      // "Two factors" are those of every kind. The lock and the limit of wrong codes are those of every factor.
      /two-?_?factor(?!s)|recovery_?-?code|totp/i,
      [
        // A logout at a provider also ends a sign-in that waits for a second factor.
        'features/identities/provider-logout.ts',
        'foundation/ports/presenter.ts',
        // The fields of the second factor in a model or table of an ORM.
        'identity/users/mapped-fields.ts',
        'identity/users/mapped-users.ts',
        'request/lockout/attempt-guard.ts',
        'request/lockout/lockout.store.ts',
        'tools/testing/user-provider-contract.ts',
      ],
    ],
  ])('is named in the lists, and in few other files: %s', (_, words, more) => {
    const found = files.filter((file) => !ASKING.test(file) && words.test(codeOf(file)));
    expect(found.toSorted()).toEqual([...lists, ...more].toSorted());
  });
});
