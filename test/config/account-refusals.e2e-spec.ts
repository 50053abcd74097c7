import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { AuthModuleOptions } from '@svc/auth';
import { DataSource } from 'typeorm';
import { createDatabase } from '../support/stores/database';
import { HostModule } from '../support/hosts/host.module';
import { API_URL, EMAIL_CHANGE, Mailbox, RESET_URL } from '../support/hosts/members';
import { Member, Person } from '../support/hosts/user-entities';
import {
  MinimalProvider,
  IdentifierProvider,
  EmailProvider,
  CreationTimeProvider,
  VerificationProvider,
  ComparingProvider,
  CompleteProvider,
  MarkingProvider,
  ForgetfulProvider,
  DuplicateEmails,
  EmailUniquePerTenant,
  EmailPartlyUnique,
  UniqueHandle,
  UniqueEmail,
  UniqueUnlessDeleted,
  USER_ENTITIES,
} from '../support/hosts/incomplete-users';

describe('the module refuses to start', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;

  beforeAll(async () => {
    database = await createDatabase();
    const tables = {
      entities: USER_ENTITIES,
      synchronize: true,
      installExtensions: false,
      uuidExtension: 'pgcrypto',
    } as const;
    await (await new DataSource({ type: 'postgres', url: database.url, ...tables }).initialize()).destroy();
  });
  afterAll(() => database.drop());

  async function start(options: Partial<AuthModuleOptions>): Promise<void> {
    const app = await NestFactory.create(HostModule.with(database.url, options, [], USER_ENTITIES), {
      logger: false,
      abortOnError: false,
    });
    await app.init();
    await app.close();
  }

  const mail = { mailer: new Mailbox() };
  const members = { users: { entity: Member }, mail };
  const reset = { ...members, features: { passwordReset: true }, passwordReset: { frontendUrl: RESET_URL } };
  const verify = { ...members, features: { emailVerification: true }, emailVerification: { apiUrl: API_URL } };
  const change = {
    ...reset,
    features: { passwordReset: true, emailChange: true, accountDeletion: false },
    emailChange: EMAIL_CHANGE,
  };
  const rename = {
    ...members,
    features: { usernameChange: true, accountDeletion: false },
    guards: { admin: { username: 'email' } },
  };
  const devices = {
    ...reset,
    features: { ...reset.features, knownDevices: true },
    knownDevices: { frontendUrl: RESET_URL },
  };
  const refused: [string, Partial<AuthModuleOptions>, RegExp][] = [
    [
      'with the change of email and without the reset of a password',
      { ...change, features: { emailChange: true } },
      /features\.emailChange needs features\.passwordReset at the guard "api"/,
    ],
    [
      'with the change of email and without the page that confirms it',
      { ...change, emailChange: { ...EMAIL_CHANGE, confirmUrl: '' } },
      /emailChange\.confirmUrl \(SVC_EMAIL_CHANGE_CONFIRM_URL\) is missing/,
    ],
    [
      'with the change of email and a page for the undo over plain HTTP',
      { ...change, emailChange: { ...EMAIL_CHANGE, undoUrl: 'http://app.example.com' } },
      /emailChange\.undoUrl \(SVC_EMAIL_CHANGE_UNDO_URL\) is "http:/,
    ],
    ['with the change of email and without a mailer', { ...change, mail: {} }, /needs mail\.mailer/],
    [
      'with links for a change of email that are valid for two days',
      { ...change, emailChange: { ...EMAIL_CHANGE, expireMinutes: 2880 } },
      /emailChange\.expireMinutes/,
    ],
    [
      'with an undo of a change of email for no day',
      { ...change, emailChange: { ...EMAIL_CHANGE, undoDays: 0 } },
      /emailChange\.undoDays/,
    ],
    [
      'with the change of email, and an email that is not unique beside the identifier',
      { ...change, username: 'handle', users: { entity: UniqueHandle }, guards: { admin: { username: 'email' } } },
      /features\.emailChange needs one account per email.*no unique index on UniqueHandle\.email/,
    ],
    [
      'with the change of email, and a provider that changes none',
      { ...change, users: { provider: IdentifierProvider } },
      /cannot get another email\. Implement changeEmail in the UserProvider/,
    ],
    [
      'with the change of a username that is the email',
      rename,
      /features\.usernameChange is on, but the users of the guard .* sign in with their email \(username: "email"\)/,
    ],
    [
      'with the change of a username under another name that is the email',
      { ...rename, username: 'login', users: { provider: IdentifierProvider } },
      /sign in with their email \(username: "login"\)/,
    ],
    [
      'with the change of a username, and a provider that changes none',
      { ...rename, username: 'login', users: { provider: EmailProvider } },
      /cannot get another login\. Implement changeIdentifier in the UserProvider/,
    ],
    [
      'with a page that is not a URL',
      { ...reset, passwordReset: { frontendUrl: 'javascript:alert(1)' } },
      /"javascript:alert\(1\)", which is not an http\(s\) URL/,
    ],
    [
      'with a page that ends in a line break',
      { ...reset, passwordReset: { frontendUrl: `${RESET_URL}\n` } },
      /^passwordReset\.frontendUrl.*has spaces or control characters/,
    ],
    [
      'with an API URL to which no path can be appended',
      { ...verify, emailVerification: { apiUrl: `${API_URL}?x=` } },
      /^emailVerification\.apiUrl.*has a query or a fragment/,
    ],
    [
      'with a user name in a URL',
      { ...verify, emailVerification: { apiUrl: 'https://me:secret@api.example.test' } },
      /^emailVerification\.apiUrl \(SVC_VERIFY_API_URL\) has a user name or a password/,
    ],
    [
      'with a broker of reset links that is not declared',
      { ...reset, passwordReset: { ...reset.passwordReset, broker: 'staff', brokers: { kiosk: {}, desk: {} } } },
      /^passwordReset\.broker \(SVC_RESET_BROKER\) names "staff", but .*brokers has kiosk, desk.*brokers: \{ "staff": \{\} \}/,
    ],
    [
      'with a broker that has the name of a method',
      { ...reset, passwordReset: { ...reset.passwordReset, broker: 'constructor' } },
      /names "constructor", but passwordReset\.brokers has no entries/,
    ],
    [
      'with a verified page that is not a URL',
      { ...verify, emailVerification: { apiUrl: API_URL, frontendUrl: '/verified' } },
      /emailVerification\.frontendUrl.*"\/verified"/,
    ],
    [
      'with mails about new sign-ins, and without the reset of passwords',
      { ...devices, features: { knownDevices: true } },
      /features\.knownDevices needs features\.passwordReset at the guard "api".*or set knownDevices\.mail/,
    ],
    [
      'with mails about new sign-ins, and without a page',
      { ...devices, knownDevices: {} },
      /^knownDevices\.frontendUrl \(SVC_KNOWN_DEVICES_URL\) is missing.*SVC_KNOWN_DEVICES_MAIL\) to false/,
    ],
    [
      'with mails about new sign-ins, and without a mailer',
      { ...devices, mail: {}, knownDevices: { ...devices.knownDevices, mail: true } },
      /knownDevices\.mail \(SVC_KNOWN_DEVICES_MAIL\) needs mail\.mailer/,
    ],
    ['without a mailer to verify addresses', { ...verify, mail: {} }, /features\.emailVerification needs mail\.mailer/],
    [
      'with a block of unverified users whose state is not known',
      { emailVerification: { blockUnverifiedLogin: true } },
      /^emailVerification\.blockUnverifiedLogin is on, but .*guard "api".*emailVerifiedAt.*or turn it off\.$/,
    ],
    [
      'with a block and a provider that does not know the state',
      {
        users: { provider: IdentifierProvider },
        features: { accountDeletion: false },
        emailVerification: { blockUnverifiedLogin: true },
      },
      /not known which users of the guard "api".*implement isEmailVerified/,
    ],
    [
      'with email verification and a provider that verifies emails without knowing the state',
      { ...verify, users: { provider: ForgetfulProvider }, features: { ...verify.features, accountDeletion: false } },
      /features\.emailVerification is on, but it is not known.*implement isEmailVerified.*turn the feature off/,
    ],
    [
      'with an entity of which no user can be created',
      { users: { entity: Person }, features: { registration: true } },
      /cannot be created.*name.*hooks\.register/,
    ],
    [
      'with a provider that cannot create users',
      { users: { provider: IdentifierProvider }, features: { registration: true, accountDeletion: false } },
      /cannot be created/,
    ],
    ...[DuplicateEmails, EmailUniquePerTenant, EmailPartlyUnique].map(
      (entity): [string, Partial<AuthModuleOptions>, RegExp] => [
        `with registration, and an address that is not unique: ${entity.name}`,
        { users: { entity }, features: { registration: true } },
        new RegExp(`one account per identifier.*no unique index on ${entity.name}\\.email.*@Index`),
      ],
    ),
    [
      'with hooks.register and an identifier that is not unique',
      { users: { entity: DuplicateEmails }, features: { registration: true }, hooks: { register: async () => null } },
      /no unique index on DuplicateEmails\.email/,
    ],
    [
      'with password reset, and an email that is not unique beside the identifier',
      { ...reset, username: 'handle', users: { entity: UniqueHandle }, guards: { admin: { username: 'email' } } },
      /one account per email.*no unique index on UniqueHandle\.email/,
    ],
    [
      'with mailed codes, and an email that is not unique',
      { ...members, users: { entity: DuplicateEmails }, features: { emailCode: true } },
      /features\.emailCode needs one account per email.*no unique index on DuplicateEmails\.email/,
    ],
    [
      'with hooks.register and users without a date',
      { users: { entity: Person }, features: { registration: true }, hooks: { register: async () => null } },
      /a creation date.*@CreateDateColumn\(\{ type: 'timestamptz' \}\)/,
    ],
    [
      'with hooks.register and a date that depends on the connection',
      {
        username: 'handle',
        users: { entity: UniqueHandle },
        guards: { admin: { username: 'email' } },
        features: { registration: true },
        hooks: { register: async () => null },
      },
      /a creation date/,
    ],
    [
      'with hooks.register and a provider without a date',
      {
        users: { provider: IdentifierProvider },
        features: { registration: true, accountDeletion: false },
        hooks: { register: async () => ({}) },
      },
      /Implement currentMark and wasCreatedSince/,
    ],
    [
      'with hooks.register and a provider with one of the two methods for a date',
      {
        users: { provider: MarkingProvider },
        features: { registration: true, accountDeletion: false },
        hooks: { register: async () => ({}) },
      },
      /Implement currentMark and wasCreatedSince/,
    ],
    [
      'with hooks.register and users without an identifier to compare',
      {
        users: { provider: CreationTimeProvider },
        features: { registration: true, accountDeletion: false },
        hooks: { register: async () => ({}) },
      },
      /the identifier that was submitted\. Implement identifierOf/,
    ],
    [
      'with account deletion for users without a known identifier',
      { users: { provider: MinimalProvider }, hooks: { deleteUser: async () => undefined } },
      /counters of the identifier.*Implement identifierOf.*switch the feature off/,
    ],
    [
      'with password reset for users without an address',
      { ...reset, users: { provider: MinimalProvider }, features: { ...reset.features, accountDeletion: false } },
      /features\.passwordReset mails its users\. Implement emailOf/,
    ],
    [
      'with mailed codes for users without an address',
      { mail, users: { provider: MinimalProvider }, features: { emailCode: true, accountDeletion: false } },
      /features\.emailCode mails its users\. Implement emailOf/,
    ],
    [
      'with notices for users without an address',
      {
        ...members,
        users: { provider: MinimalProvider },
        mail: { ...mail, notices: true },
        features: { accountDeletion: false },
      },
      /^mail\.notices mails its users\. Implement emailOf/,
    ],
    [
      'with notices and no mailer',
      { ...members, mail: { notices: ['passkeyAdded'] } },
      /^mail\.notices needs mail\.mailer/,
    ],
    [
      'with notices of an extra guard and no mailer',
      { guards: { admin: { mail: { notices: true } } } },
      /^guards\.admin\.mail\.notices needs mail\.mailer/,
    ],
    [
      'with an unknown notice',
      { ...members, mail: { ...mail, notices: ['passwordReset' as 'passkeyAdded'] } },
      /^mail\.notices names "passwordReset", which is no notice of the library\. Use .*passwordChanged, /,
    ],
    [
      'with notices that are a text',
      { ...members, mail: { ...mail, notices: 'passkeyAdded' as never } },
      /^mail\.notices must be true, false or a list\. Use .*passwordChanged, /,
    ],
    [
      'with a language of mails without texts',
      { ...members, mail: { ...mail, language: 'it-IT' } },
      /^mail\.language is "it-IT", for which the library has no mails\. Use en, de, fr, es, pt, ja\.$/,
    ],
    [
      'with a color of another form',
      { ...members, mail: { ...mail, accentColor: 'red' } },
      /^mail\.accentColor is "red"\. Set it to a color of the form #2f45cf\.$/,
    ],
    ...[
      'http://example.com/logo.png',
      '/logo.png',
      'data:image/png;base64,AA',
      'https://user:password@example.com/logo.png',
      'https://example.com/my logo.png',
      '',
    ].map((logo): [string, Partial<AuthModuleOptions>, RegExp] => [
      `with the logo "${logo}"`,
      { ...members, mail: { ...mail, logo } },
      /^mail\.logo is no https URL of a picture\. Set it to one such as https:\/\/example\.com\/logo\.png, without a user name\.$/,
    ]),
    [
      'with a name of users that they do not have',
      { ...members, mail: { ...mail, recipientName: 'nmae' } },
      /^mail\.recipientName is "nmae", and the users have no such column that is selected\. Name one, or set a function\.$/,
    ],
    [
      'with a name of users that is not selected',
      { ...members, mail: { ...mail, recipientName: 'passwordHash' } },
      /^mail\.recipientName is "passwordHash"/,
    ],
    [
      'with a name for users whose verification is not known',
      { mail: { ...mail, recipientName: () => 'Ada' } },
      /^mail\.recipientName has no effect: .* Add the column emailVerifiedAt, or implement isEmailVerified/,
    ],
    [
      'with texts in an unknown language',
      { ...members, mail: { ...mail, texts: { it: {} } as object } },
      /^mail\.texts\.it is no language of the library/,
    ],
    [
      'with texts of an unknown kind',
      { ...members, mail: { ...mail, texts: { de: { resetPassword: {} } } as object } },
      /^mail\.texts\.de\.resetPassword is no kind of mail\. Use .*passwordReset, /,
    ],
    [
      'with an unknown text',
      { ...members, mail: { ...mail, texts: { de: { passwordReset: { heading: 'x' } } } as object } },
      /^mail\.texts\.de\.passwordReset\.heading must be a text\. Texts: preheader, note, subject, title, body, link\.$/,
    ],
    [
      'with a language of messages without texts',
      { languages: ['de', 'it' as 'de'] },
      /^languages names "it", which is no language of the library\. Use en, de, fr, es, pt, ja\.$/,
    ],
    [
      'with languages that are a text',
      { languages: 'de' as never },
      /^languages must be true, false or a list\. Use en, /,
    ],
    [
      'with email verification for users without an address',
      {
        ...verify,
        users: { provider: VerificationProvider },
        features: { ...verify.features, accountDeletion: false },
      },
      /features\.emailVerification mails its users\. Implement emailOf/,
    ],
  ];

  it.each(refused)('%s', async (_, options, message) => {
    await expect(start(options)).rejects.toThrow(message);
  });

  it.each<[string, Partial<AuthModuleOptions>, boolean]>([
    [
      'compares another identifier than the email in an unknown way',
      { username: 'login', users: { provider: IdentifierProvider } },
      true,
    ],
    ['tells how it compares', { username: 'login', users: { provider: ComparingProvider } }, false],
    ['finds users by email', { users: { provider: IdentifierProvider } }, false],
    ['is that of an entity', { username: 'handle', users: { entity: UniqueHandle } }, false],
  ])('no provider, but warns of one that %s', async (_, options, isWarned) => {
    const warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const guards = { admin: { username: 'email' } };
    await start({ ...options, guards, features: { accountDeletion: false } });
    const texts = warned.mock.calls.map(([text]) => String(text)).filter((text) => text.includes('comparedForm'));
    expect(texts).toEqual(
      isWarned ? [expect.stringMatching(/guard "api" has no comparedForm.*unknown login.*Implement/)] : [],
    );
  });

  it('in production with a plain HTTP URL, even on localhost', async () => {
    const before = process.env.NODE_ENV;
    process.env.NODE_ENV = 'production';
    try {
      for (const url of ['http://app.example.test/reset', 'http://localhost:3000/reset']) {
        const plain = { ...reset, passwordReset: { frontendUrl: url } };
        await expect(start(plain)).rejects.toThrow(
          /^passwordReset\.frontendUrl.*in production, mailed links must use https/,
        );
      }
    } finally {
      process.env.NODE_ENV = before;
    }
  });

  it.each<[string, Partial<AuthModuleOptions>]>([
    ['password reset', reset],
    [
      'a broker of reset links',
      {
        ...reset,
        passwordReset: { ...reset.passwordReset, broker: 'staff', brokers: { staff: { expireMinutes: 15 } } },
      },
    ],
    ['an undeclared broker, with password reset off', { passwordReset: { broker: 'staff' } }],
    ['a page on localhost', { ...reset, passwordReset: { frontendUrl: 'http://localhost:3000/reset?lang=de' } }],
    ['email verification', verify],
    [
      'users that hooks.deleteUser removes',
      { users: { provider: IdentifierProvider }, hooks: { deleteUser: async () => undefined } },
    ],
    ['users that the service only reads', { users: { provider: MinimalProvider }, verifyOnly: true }],
    [
      'users that cannot be deleted, with account deletion off',
      { users: { provider: MinimalProvider }, features: { accountDeletion: false } },
    ],
    [
      'a provider with all required methods',
      {
        ...verify,
        users: { provider: CompleteProvider },
        passwordReset: reset.passwordReset,
        features: { registration: true, passwordReset: true, emailVerification: true },
        hooks: { register: async () => null },
      },
    ],
    [
      'users with an email but without an identifier',
      { ...reset, users: { provider: EmailProvider }, features: { passwordReset: true, accountDeletion: false } },
    ],
    ...[UniqueEmail, UniqueUnlessDeleted].map((entity): [string, Partial<AuthModuleOptions>] => [
      `an address that is unique: ${entity.name}`,
      { ...reset, users: { entity }, features: { registration: true, passwordReset: true } },
    ]),
    [
      'a name that is a column, for users that have it; another guard inherits the option',
      {
        ...members,
        mail: { ...mail, recipientName: 'name', logo: 'https://example.com/logo.png?v=2' },
        guards: { admin: {} },
      },
    ],
    ['a duplicate address without registration', { users: { entity: DuplicateEmails } }],
  ])('unless the configuration is valid: %s', async (_, options) => {
    await start(options);
  });
});
