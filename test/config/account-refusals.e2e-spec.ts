import { NestFactory } from '@nestjs/core';
import { type AuthModuleOptions, type StoredCredentials, UserProvider } from '@svc/auth';
import { createDatabase } from '../support/database';
import { HostModule } from '../support/host.module';
import { API_URL, Mailbox, RESET_URL } from '../support/members';
import { Member, Person } from '../support/people';

/** Users that can be asked, and nothing else. */
class Readers extends UserProvider {
  findById = async (): Promise<object | null> => null;
  findByIdentifier = async (): Promise<StoredCredentials | null> => null;
  passwordHashOf = async (): Promise<string | null> => null;
  idOf = (): string => '1';
  savePasswordHash = async (): Promise<void> => undefined;
}

describe('the module refuses to start', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;

  beforeAll(async () => (database = await createDatabase()));
  afterAll(() => database.drop());

  async function start(options: Partial<AuthModuleOptions>): Promise<void> {
    const app = await NestFactory.create(HostModule.with(database.url, options), {
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
  const refused: [string, Partial<AuthModuleOptions>, RegExp][] = [
    [
      'without a page to reset passwords at',
      { ...reset, passwordReset: {} },
      /^passwordReset\.frontendUrl.*is missing/,
    ],
    [
      'with a page that is no URL',
      { ...reset, passwordReset: { frontendUrl: 'javascript:alert(1)' } },
      /"javascript:alert\(1\)", which is no http\(s\) URL/,
    ],
    ['without a mailer to reset passwords', { ...reset, mail: {} }, /needs mail\.mailer.*nodemailerMailer/],
    ['without the URL of the API', { ...verify, emailVerification: {} }, /^emailVerification\.apiUrl.*is missing/],
    [
      'with a page after verification that is no URL',
      { ...verify, emailVerification: { apiUrl: API_URL, frontendUrl: '/verified' } },
      /emailVerification\.frontendUrl.*"\/verified"/,
    ],
    ['without a key to sign links', { ...verify, encryption: {} }, /emailVerification needs encryption\.key/],
    ['without a mailer to verify addresses', { ...verify, mail: {} }, /features\.emailVerification needs mail\.mailer/],
    [
      'with users that have no verified email',
      { ...verify, users: { entity: Person } },
      /have no verified email.*emailVerifiedAt/,
    ],
    [
      'with users that cannot be created',
      { users: { entity: Person }, features: { registration: true } },
      /cannot be created.*name.*hooks\.register/,
    ],
    [
      'with users of a provider that cannot be created',
      { users: { provider: Readers }, features: { registration: true, accountDeletion: false } },
      /cannot be created/,
    ],
    [
      'with hooks.register and users that cannot tell new from old',
      {
        users: { provider: Readers },
        features: { registration: true, accountDeletion: false },
        hooks: { register: async () => ({}) },
      },
      /Implement mark and isNewerThan/,
    ],
    [
      'with users that cannot be deleted',
      { users: { provider: Readers } },
      /cannot be deleted.*switch the feature off/,
    ],
  ];

  it.each(refused)('%s', async (_, options, message) => {
    await expect(start(options)).rejects.toThrow(message);
  });

  it.each<[string, Partial<AuthModuleOptions>]>([
    ['password reset', reset],
    ['email verification', verify],
    [
      'users that hooks.deleteUser removes',
      { users: { provider: Readers }, hooks: { deleteUser: async () => undefined } },
    ],
    ['users that are only verified against', { users: { provider: Readers }, routes: false }],
    ['users that nobody deletes', { users: { provider: Readers }, features: { accountDeletion: false } }],
  ])('but starts with %s as it should be', async (_, options) => {
    await start(options);
  });
});
