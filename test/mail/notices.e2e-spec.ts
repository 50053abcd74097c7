import { Logger } from '@nestjs/common';
import { AccountLocked, type AuthModuleOptions, type Mail, type MailKind } from '@svc/auth';
import { SoftAuthenticator } from '@svc/auth/testing';
import { Mailbox, WAITING, hangingMails, linkIn, member, membersForFile } from '../support/hosts/members';
import { ORIGIN, PASSKEYS, PasskeyApp } from '../support/flows/passkeys';
import { ADA, CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';
import {
  asConfirmed,
  codeOf,
  completeChallenge,
  enrol,
  startChallenge,
  twoFactorForFile,
} from '../support/flows/two-factor';
import { Member, PASSWORD } from '../support/hosts/user-entities';
import type { TestApp } from '../support/hosts/app';

const verified = { emailVerifiedAt: new Date(0) };
const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const NEW_PASSWORD = 'another-horse-battery';

/** The name of a member is its language. */
const languageOf = (user: object): string => (user as Member).name;

const hostOptions = (mail: AuthModuleOptions['mail']): Partial<AuthModuleOptions> => ({
  mail,
  appName: 'Acme',
  lockout: { maxAttempts: 3 },
  passkeys: PASSKEYS.passkeys,
  twoFactor: { trustedDeviceDays: 30 },
  features: { lockout: true, twoFactor: true, passkeys: true },
});

const wrongLogins = async (t: TestApp, times: number, email = ADA): Promise<void> => {
  for (let i = 0; i < times; i++) await t.login(email, `wrong ${i}`).expect(422);
};

/** A signed-in member with a confirmation token. */
async function signedIn(t: TestApp): Promise<{ token: string; proof: string }> {
  const token = (await t.session()).access_token;
  return { token, proof: await confirmationTokenOf(t, token) };
}

async function withPasskey(t: TestApp): Promise<{ id: string; remove: () => Promise<unknown> }> {
  const app = new PasskeyApp(t);
  const user = await app.confirmed();
  const id = await app.enrol(user, new SoftAuthenticator(ORIGIN));
  return { id, remove: async () => app.call('delete', `passkeys/${id}`, user).expect(204) };
}

async function resetPassword(t: TestApp, mailbox: Mailbox): Promise<void> {
  await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
  const { searchParams } = linkIn(await mailbox.to(ADA));
  mailbox.clear();
  const body = { ...Object.fromEntries(searchParams), password: NEW_PASSWORD, password_confirmation: NEW_PASSWORD };
  await t.http.post('/auth/reset-password').send(body).expect(200);
}

/** The kinds of notices whose preparation is mailed, too. */
const PREPARED: readonly MailKind[] = ['twoFactorDisabled', 'recoveryCodesReplaced', 'passkeyRemoved', 'deviceTrusted'];

const LAST = 'last@example.com';

/** The mails, after those that were queued before have been sent: a mail that needs more statements was queued last. */
async function mailsIn(t: TestApp, mailbox: Mailbox): Promise<Mail[]> {
  await member(t, LAST);
  await t.http.post('/auth/forgot-password').send({ email: LAST }).expect(200);
  await mailbox.to(LAST);
  await t.calm();
  return mailbox.mails.filter(({ to }) => to !== LAST);
}

/** What changes an account, after a preparation. */
const CHANGES: readonly (readonly [
  kind: MailKind,
  what: string,
  prepare: (t: TestApp, mailbox: Mailbox) => Promise<() => Promise<unknown>>,
])[] = [
  [
    'passwordChanged',
    'a change of the password',
    async (t) => {
      const { token } = await signedIn(t);
      const body = { current_password: PASSWORD, password: NEW_PASSWORD, password_confirmation: NEW_PASSWORD };
      return async () => t.call('post', '/auth/password', token).send(body).expect(200);
    },
  ],
  ['passwordChanged', 'a reset of the password', async (t, mailbox) => () => resetPassword(t, mailbox)],
  ['twoFactorEnabled', 'the enrolment of a second factor', async (t) => () => enrol(t)],
  [
    'twoFactorDisabled',
    'the removal of the second factor',
    async (t) => {
      const { token, proof } = await enrol(t);
      return async () => asConfirmed(t, 'delete', '/auth/two-factor', token, proof).expect(204);
    },
  ],
  [
    'recoveryCodesReplaced',
    'new recovery codes',
    async (t) => {
      const { token, proof } = await enrol(t);
      return async () => asConfirmed(t, 'post', '/auth/two-factor/recovery-codes', token, proof).expect(200);
    },
  ],
  ['passkeyAdded', 'a new passkey', async (t) => () => withPasskey(t)],
  ['passkeyRemoved', 'the removal of a passkey', async (t) => (await withPasskey(t)).remove],
  [
    'deviceTrusted',
    'a device that is trusted from now on',
    async (t) => {
      const { recoveryCodes } = await enrol(t);
      const challenge_token = await startChallenge(t);
      const answer = { challenge_token, recovery_code: recoveryCodes[0], trust_device: true };
      return async () => completeChallenge(t, answer).expect(200);
    },
  ],
  ['accountLocked', 'a lock', async (t) => () => wrongLogins(t, 3)],
  [
    'accountDeleted',
    'the deletion of the account',
    async (t) => {
      const { token, proof } = await signedIn(t);
      return async () => t.call('delete', '/auth/account', token).set(CONFIRMATION_HEADER, proof).expect(204);
    },
  ],
];

/** The beginning of the German subject of each notice. */
const GERMAN: Readonly<Partial<Record<MailKind, string>>> = {
  passwordChanged: 'Ihr Passwort bei Acme wurde geändert',
  // Its users have an identifier besides the email: test/email-change/username.
  usernameChanged: 'Ihr Benutzername bei Acme wurde geändert',
  twoFactorEnabled: 'Zweiter Faktor bei Acme aktiviert',
  twoFactorDisabled: 'Zweiter Faktor bei Acme deaktiviert',
  recoveryCodesReplaced: 'Neue Wiederherstellungscodes für Acme',
  passkeyAdded: 'Neuer Passkey für Ihr Konto bei Acme',
  passkeyRemoved: 'Passkey aus Ihrem Konto bei Acme entfernt',
  deviceTrusted: 'Neues vertrauenswürdiges Gerät bei Acme',
  accountLocked: 'Ihr Konto bei Acme wurde gesperrt',
  accountDeleted: 'Ihr Konto bei Acme wurde gelöscht',
};

describe('with mail.notices', () => {
  const mailbox = new Mailbox();
  const { t } = membersForFile(hostOptions({ mailer: mailbox, notices: true, language: languageOf }));
  let id: string;

  const mails = (): Promise<Mail[]> => mailsIn(t, mailbox);

  beforeEach(async () => {
    mailbox.clear();
    id = await member(t, ADA, { name: 'de-AT', ...verified });
  });

  it.each(CHANGES)('%s: the owner gets one mail about %s, in the language of the user', async (kind, _, prepare) => {
    const change = await prepare(t, mailbox);
    if (PREPARED.includes(kind)) await mailbox.nth(1);
    mailbox.clear();
    await change();
    const mail = await mailbox.nth(1);
    const headers = { 'Auto-Submitted': 'auto-generated' };
    const content = { text: expect.any(String), html: expect.any(String) };
    expect(mail).toEqual({ to: ADA, subject: GERMAN[kind], ...content, headers });
    expect(mail.html).toContain('<html lang="de" ');
    // The clock moves on after some changes, so the day may be over.
    expect(mail.text).toMatch(/Zeitpunkt: \d{1,2}\. /);
    expect(await mails()).toHaveLength(1);
  });

  it('an unverified address gets no notice about passkeys, and no mail for each of those that a reset removes', async () => {
    await t.database.query('UPDATE members SET email_verified_at = NULL');
    await withPasskey(t);
    await withPasskey(t);
    await resetPassword(t, mailbox);
    await mailbox.to(ADA);
    // The reset has verified the address before its own notice is sent, and perhaps before that about the passkeys.
    const subjects = (await mails()).map(({ subject }) => subject);
    expect(subjects).toContain(GERMAN.passwordChanged);
    expect(subjects.filter((subject) => subject !== GERMAN.passwordChanged).length).toBeLessThanOrEqual(1);
  });

  it('a change that is repeated within a minute is mailed once', async () => {
    const { token, proof } = await enrol(t);
    await mailbox.nth(1);
    for (let i = 0; i < 3; i++)
      await asConfirmed(t, 'post', '/auth/two-factor/recovery-codes', token, proof).expect(200);
    await asConfirmed(t, 'delete', '/auth/two-factor', token, proof).expect(204);
    await mailbox.nth(3);
    // Several mails are sent at once.
    expect((await mails()).map(({ subject }) => subject).toSorted()).toEqual(
      (['twoFactorEnabled', 'recoveryCodesReplaced', 'twoFactorDisabled'] as const)
        .map((kind) => GERMAN[kind])
        .toSorted(),
    );
  });

  it('an imported second factor is not mailed', async () => {
    await t.auth.twoFactor.importFactor(id, { secret: SECRET, recoveryCodeHashes: [] });
    expect(await mails()).toEqual([]);
  });

  it('a lock is mailed once, however many attempts it refuses', async () => {
    await wrongLogins(t, 3);
    await mailbox.nth(1);
    for (let i = 0; i < 3; i++) await t.login(ADA, 'wrong').expect(423);
    expect(await mails()).toHaveLength(1);
  });

  it('a lock of an identifier without an account is not mailed', async () => {
    const locked = t.recorded(AccountLocked);
    await wrongLogins(t, 3, 'nobody@example.com');
    expect(locked).toHaveLength(1);
    expect(await mails()).toEqual([]);
  });

  it('an account that its owner enters with the last attempt is not locked, and there is no mail', async () => {
    const locked = t.recorded(AccountLocked);
    await wrongLogins(t, 2);
    await t.login(ADA).expect(200);
    expect(locked).toHaveLength(1);
    expect(await mails()).toEqual([]);
  });

  it('a lock that is released while its mail waits in the queue is not mailed', async () => {
    await hangingMails(t, mailbox);
    await wrongLogins(t, 3);
    await t.database.query('DELETE FROM svc_lockouts');
    mailbox.release();
    await mailbox.nth(4);
    expect((await mails()).map(({ to }) => to)).toEqual([WAITING, WAITING, WAITING, WAITING]);
  });

  it('the lock of the second factor is mailed, too', async () => {
    const { secret } = await enrol(t);
    await mailbox.nth(1);
    mailbox.clear();
    const { body } = await t.login(ADA).expect(200);
    const wrong = codeOf(t, secret, 40);
    for (let i = 0; i < 3; i++)
      await t.http
        .post('/auth/two-factor-challenge')
        .send({ challenge_token: body.challenge_token, code: wrong })
        .expect(422);
    expect((await mailbox.nth(1)).subject).toBe(GERMAN.accountLocked);
  });
});

describe('the language of a mail', () => {
  const mailbox = new Mailbox();
  let language: (user: object, context: { guard: string }) => unknown;
  const { t } = membersForFile(
    hostOptions({
      mailer: mailbox,
      notices: ['passwordChanged'],
      language: (user, context) => language(user, context) as string,
    }),
  );
  beforeEach(() => mailbox.clear());

  async function subject(): Promise<string> {
    await member(t, ADA, { name: 'fr' });
    await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    return (await mailbox.to(ADA)).subject;
  }

  it('is that of the user, for every kind', async () => {
    const seen: unknown[] = [];
    language = (user, context) => (seen.push(context), languageOf(user));
    expect(await subject()).toBe('Réinitialisez votre mot de passe Acme');
    expect(seen).toEqual([{ guard: 'api' }]);
  });

  it.each([
    ['a promise', async () => 'ja-JP', 'Acme のパスワード再設定'],
    ['a language without texts', () => 'it', 'Reset your Acme password'],
    ['null', () => null, 'Reset your Acme password'],
    ['undefined', () => undefined, 'Reset your Acme password'],
  ])('may be %s', async (_, returned, expected) => {
    language = returned;
    expect(await subject()).toBe(expected);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no language');
      },
    ],
    ['returns no text', () => 7],
  ])('is English when the function %s, and the log says why', async (_, returned) => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    language = returned;
    expect(await subject()).toBe('Reset your Acme password');
    expect(warn).toHaveBeenCalledWith(expect.stringMatching(/^mail\.language failed; the mail is in English: /));
  });

  it('a notice that is not listed is not sent', async () => {
    language = languageOf;
    await member(t, ADA);
    await enrol(t);
    expect(await mailsIn(t, mailbox)).toEqual([]);
  });
});

describe('by default', () => {
  const mailbox = new Mailbox();
  const { t } = membersForFile(hostOptions({ mailer: mailbox }));

  it.each(CHANGES)('no notice is sent: %s after %s', async (_kind, _, prepare) => {
    mailbox.clear();
    await member(t, ADA);
    const change = await prepare(t, mailbox);
    await change();
    expect(await mailsIn(t, mailbox)).toEqual([]);
  });
});

describe('each guard', () => {
  const [staff, people] = [new Mailbox(), new Mailbox()];
  const admin = { mail: { mailer: staff, notices: ['twoFactorDisabled'] as const, language: 'es' } };
  const t = twoFactorForFile({ appName: 'Acme', mail: { mailer: people, notices: true }, guards: { admin } });

  it('sends its own notices, and none about a user of another guard with the same id', async () => {
    // Ada has the id 1, too.
    const ids = { admin: await t.person('root@example.com', 'admin'), api: await t.person('bob@example.com') };
    expect(ids).toEqual({ admin: '1', api: '2' });
    for (const guard of ['admin', 'api'] as const) {
      const { twoFactor } = t.auth.guard(guard);
      await twoFactor.importFactor(ids[guard], { secret: SECRET, recoveryCodeHashes: [] });
      await twoFactor.disable(ids[guard]);
    }
    const mail = await staff.nth(1);
    expect(mail).toMatchObject({
      to: 'root@example.com',
      subject: 'Autenticación en dos pasos desactivada en Acme',
    });
    await people.to('bob@example.com');
    expect([staff.mails.length, people.mails.length]).toEqual([1, 1]);
  });
});
