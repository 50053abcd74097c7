import type { AuthModuleOptions } from '@svc/auth';
import { oidc } from '@svc/auth/identities';
import { SoftAuthenticator, enrolTwoFactor } from '@svc/auth/testing';
import type { Test } from 'supertest';
import type { Tokens } from '../hosts/app';
import { knownDeviceOptions } from './known-devices';
import { type Mailbox, linkIn, member, memberOptions } from '../hosts/members';
import { ORIGIN, PASSKEYS, PasskeyApp } from './passkeys';
import type { TestApp } from '../hosts/app';
import { CONFIRMATION_HEADER, confirmationTokenOf } from './step-up';
import { codeIn } from './email-code';
import { CALLBACK, CLIENT_SECRET, type IdentityProviderHost } from '../identity-provider/identity-provider';
import { answerOf } from '../identity-provider/visit';
import { PASSWORD } from '../hosts/user-entities';

const CHOSEN = { password: 'another horse entirely', password_confirmation: 'another horse entirely' };

/** The features that add work to a flow of a host without them, or flows. */
const MORE = [
  'lockout',
  'twoFactor',
  'passkeys',
  'knownDevices',
  'emailChange',
  'emailCode',
  'passkeyRegistration',
  'identities',
];

/**
 * The options of a host with the flows.
 *
 * @param isFull whether it has every feature, and so every flow
 */
export function flowOptions(
  mailer: Mailbox,
  provider: IdentityProviderHost,
  isFull: boolean,
): Partial<AuthModuleOptions> {
  const { features, ...options } = everyFlow(mailer, provider);
  const without = Object.fromEntries(MORE.map((feature) => [feature, false]));
  return { ...options, features: isFull ? features : { ...features, ...without } };
}

const everyFlow = (mailer: Mailbox, { issuer }: IdentityProviderHost): Partial<AuthModuleOptions> =>
  memberOptions(mailer, {
    ...knownDeviceOptions(),
    passkeys: PASSKEYS.passkeys,
    identities: {
      providers: {
        acme: oidc({
          issuer,
          clientId: 'app',
          clientSecret: CLIENT_SECRET,
          redirectUris: [CALLBACK],
          authorityFor: 'any',
        }),
      },
    },
    features: {
      identities: true,
      lockout: true,
      twoFactor: true,
      passkeys: true,
      knownDevices: true,
      emailChange: true,
      emailCode: true,
      registration: true,
      passwordReset: true,
      emailVerification: true,
      passkeyRegistration: true,
    },
  });

/** A host, and the account of one flow. */
export interface FlowAccount {
  readonly t: TestApp;
  readonly mailbox: Mailbox;
  readonly provider: IdentityProviderHost;
  /** The address of the account. Each flow has its own. */
  readonly email: string;
  /** The id of the account. */
  readonly id: string;
}

/** The text of its row in `docs/deployment.md`, and a function that prepares a request and returns it with the expected status. */
export type Flow = readonly [name: string, prepare: (account: FlowAccount) => Promise<() => Test>];

const signedIn = ({ t, email }: FlowAccount): Promise<Tokens> => t.session(email);

async function confirmed(account: FlowAccount): Promise<{ token: string; proof: string }> {
  const { access_token: token } = await signedIn(account);
  return { token, proof: await confirmationTokenOf(account.t, token) };
}

const asConfirmed = ({ t }: FlowAccount, method: 'post' | 'delete', path: string, { token, proof }: Confirmed): Test =>
  t.call(method, path, token).set(CONFIRMATION_HEADER, proof);

type Confirmed = Awaited<ReturnType<typeof confirmed>>;

/** Sends a request that causes a mail, and returns the token in the link of the mail. */
async function mailedToken({ mailbox, email }: FlowAccount, send: PromiseLike<unknown>, to = email): Promise<string> {
  await send;
  return linkIn(await mailbox.to(to)).searchParams.get('token')!;
}

async function withPasskey(account: FlowAccount): Promise<{ app: PasskeyApp; device: SoftAuthenticator; id: string }> {
  const [app, device] = [new PasskeyApp(account.t), new SoftAuthenticator(ORIGIN)];
  return { app, device, id: await app.enrol(await app.confirmed(account.email), device) };
}

/** Signs a person in at the provider, and returns the callback. */
async function atProvider({ t, provider, email }: FlowAccount): Promise<() => Test> {
  const subject = newEmail(email);
  provider.people.set(subject, { email: subject, email_verified: true, name: 'Bob' });
  provider.signedIn = { subject };
  const { body } = await t.http.post('/auth/identities/acme').expect(200);
  const parameters = String(await answerOf(body.authorization_url));
  const answer = { parameters, attempt_token: body.attempt_token, redirect_uri: CALLBACK };
  return () => t.http.post('/auth/identities/acme/callback').send(answer).expect(200);
}

const newEmail = (email: string): string => email.replace('@', '@new.');

/** The flows of every host. */
export const FLOWS: readonly Flow[] = [
  [
    'a guarded route of the host',
    async (of) => {
      const { access_token } = await signedIn(of);
      return () => of.t.get('/private', access_token).expect(200);
    },
  ],
  [
    '`POST /refresh`',
    async (of) => {
      const { refresh_token } = await signedIn(of);
      return () => of.t.refresh(refresh_token).expect(200);
    },
  ],
  [
    '`POST /login`',
    async ({ t, email }) =>
      () =>
        t.login(email).expect(200),
  ],
  [
    '`POST /login`, wrong password',
    async ({ t, email }) =>
      () =>
        t.login(email, 'wrong').expect(422),
  ],
  [
    '`POST /login`, unknown email',
    async ({ t, email }) =>
      () =>
        t.login(newEmail(email), 'wrong').expect(422),
  ],
  [
    '`POST /register`',
    async ({ t, email }) =>
      () =>
        t.http
          .post('/auth/register')
          .send({ name: 'Bob', email: newEmail(email), ...CHOSEN })
          .expect(200),
  ],
  [
    '`POST /register`, taken email',
    async ({ t, email }) =>
      () =>
        t.http
          .post('/auth/register')
          .send({ name: 'Bob', email, ...CHOSEN })
          .expect(422),
  ],
  [
    '`GET /email/verify`',
    async ({ t, email, mailbox }) => {
      await t.http
        .post('/auth/register')
        .send({ name: 'Bob', email: newEmail(email), ...CHOSEN })
        .expect(200);
      const { pathname, search } = linkIn(await mailbox.to(newEmail(email)));
      return () =>
        t.http
          .get(pathname + search)
          .set('Accept', 'application/json')
          .expect(204);
    },
  ],
  [
    '`POST /email/verification-notification`',
    async (of) => {
      const { access_token } = await signedIn(of);
      return () => of.t.call('post', '/auth/email/verification-notification', access_token).expect(202);
    },
  ],
  [
    '`POST /password`',
    async (of) => {
      const { access_token } = await signedIn(of);
      return () =>
        of.t
          .call('post', '/auth/password', access_token)
          .send({ current_password: PASSWORD, ...CHOSEN })
          .expect(200);
    },
  ],
  [
    '`POST /forgot-password`',
    async ({ t, email }) =>
      () =>
        t.http.post('/auth/forgot-password').send({ email }).expect(200),
  ],
  [
    '`POST /forgot-password`, unknown email',
    async ({ t, email }) =>
      () =>
        t.http
          .post('/auth/forgot-password')
          .send({ email: newEmail(email) })
          .expect(200),
  ],
  [
    '`POST /reset-password`',
    async (of) => {
      const { t, email } = of;
      const token = await mailedToken(of, t.http.post('/auth/forgot-password').send({ email }).expect(200));
      return () =>
        t.http
          .post('/auth/reset-password')
          .send({ email, token, ...CHOSEN })
          .expect(200);
    },
  ],
  [
    '`POST /confirm-password`',
    async (of) => {
      const { access_token } = await signedIn(of);
      return () => of.t.call('post', '/auth/confirm-password', access_token).send({ password: PASSWORD }).expect(200);
    },
  ],
  [
    '`GET /sessions`',
    async (of) => {
      const { access_token } = await signedIn(of);
      return () => of.t.get('/auth/sessions', access_token).expect(200);
    },
  ],
  [
    '`POST /logout`',
    async (of) => {
      const { access_token } = await signedIn(of);
      return () => of.t.call('post', '/auth/logout', access_token).expect(204);
    },
  ],
  [
    '`DELETE /sessions/others`',
    async (of) => {
      await signedIn(of);
      const { access_token } = await signedIn(of);
      return () => of.t.call('delete', '/auth/sessions/others', access_token).expect(204);
    },
  ],
  [
    '`DELETE /sessions`',
    async (of) => {
      const { access_token } = await signedIn(of);
      return () => of.t.call('delete', '/auth/sessions', access_token).expect(204);
    },
  ],
  [
    '`GET /account/export`',
    async (of) => {
      const caller = await confirmed(of);
      return () => of.t.get('/auth/account/export', caller.token).set(CONFIRMATION_HEADER, caller.proof).expect(200);
    },
  ],
  [
    '`DELETE /account`',
    async (of) => {
      const caller = await confirmed(of);
      return () => asConfirmed(of, 'delete', '/auth/account', caller).expect(204);
    },
  ],
];

/** The flows of other features. */
export const FEATURE_FLOWS: readonly Flow[] = [
  [
    '`POST /login`, with a second factor',
    async ({ t, email, id }) => {
      await enrolTwoFactor(t.app, id);
      return () => t.login(email).expect(200);
    },
  ],
  [
    '`POST /two-factor-challenge`',
    async ({ t, email, id }) => {
      const factor = await enrolTwoFactor(t.app, id);
      const { challenge_token } = (await t.login(email).expect(200)).body;
      return () => t.http.post('/auth/two-factor-challenge').send({ challenge_token, code: factor.code() }).expect(200);
    },
  ],
  [
    '`POST /passkeys/login-options`',
    async ({ t }) =>
      () =>
        t.http.post('/auth/passkeys/login-options').expect(200),
  ],
  [
    '`POST /passkeys/login`',
    async (of) => {
      const { app, device } = await withPasskey(of);
      const { ceremony_id, credential } = await app.answer(device);
      return () => app.login(ceremony_id, credential).expect(200);
    },
  ],
  [
    '`POST /login/code`',
    async ({ t, email }) =>
      () =>
        t.http.post('/auth/login/code').send({ email }).expect(202),
  ],
  [
    '`POST /login/code/verify`',
    async ({ t, email, mailbox }) => {
      const { code_token } = (await t.http.post('/auth/login/code').send({ email }).expect(202)).body;
      const code = codeIn(await mailbox.to(email));
      return () => t.http.post('/auth/login/code/verify').send({ code_token, code }).expect(200);
    },
  ],
  [
    '`POST /identities/:svcProvider/callback`',
    async (of) => {
      await (
        await atProvider(of)
      )();
      return atProvider(of);
    },
  ],
  ['`POST /identities/:svcProvider/callback`, new account', atProvider],
  [
    '`POST /two-factor`',
    async (of) => {
      const caller = await confirmed(of);
      return () => asConfirmed(of, 'post', '/auth/two-factor', caller).expect(200);
    },
  ],
  [
    '`DELETE /two-factor`',
    async (of) => {
      const caller = await confirmed(of);
      await enrolTwoFactor(of.t.app, of.id);
      return () => asConfirmed(of, 'delete', '/auth/two-factor', caller).expect(204);
    },
  ],
  [
    '`POST /passkeys/registration-options`',
    async (of) => {
      const caller = await confirmed(of);
      return () => asConfirmed(of, 'post', '/auth/passkeys/registration-options', caller).expect(200);
    },
  ],
  [
    '`POST /passkeys`',
    async (of) => {
      const [app, device] = [new PasskeyApp(of.t), new SoftAuthenticator(ORIGIN)];
      const user = await app.confirmed(of.email);
      const credential = device.create(await app.creationOptions(user));
      return () => app.register(user, credential).expect(204);
    },
  ],
  [
    '`DELETE /passkeys/:svcPasskey`',
    async (of) => {
      const { app, id } = await withPasskey(of);
      const user = await app.confirmed(of.email);
      return () => app.call('delete', `passkeys/${id}`, user).expect(204);
    },
  ],
  [
    '`POST /email/change`',
    async (of) => {
      const caller = await confirmed(of);
      return () =>
        asConfirmed(of, 'post', '/auth/email/change', caller)
          .send({ email: newEmail(of.email) })
          .expect(202);
    },
  ],
  [
    '`POST /email/change/confirm`',
    async (of) => {
      const caller = await confirmed(of);
      const asked = asConfirmed(of, 'post', '/auth/email/change', caller)
        .send({ email: newEmail(of.email) })
        .expect(202);
      const token = await mailedToken(of, asked, newEmail(of.email));
      return () => of.t.http.post('/auth/email/change/confirm').send({ token }).expect(200);
    },
  ],
];

/** Creates an account, and prepares the request of a flow with it. */
export async function prepared(
  [name, prepare]: Flow,
  of: Pick<FlowAccount, 't' | 'mailbox' | 'provider'>,
): Promise<() => Test> {
  const email = `${name.replaceAll(/\W+/g, '-')}-@example.com`.replace(/^-/, '').toLowerCase();
  return prepare({ ...of, email, id: await member(of.t, email) });
}
