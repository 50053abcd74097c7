import { type Type } from '@nestjs/common';
import { GraphQLModule } from '@nestjs/graphql';
import { ApolloDriver } from '@nestjs/apollo';
import { MercuriusDriver } from '@nestjs/mercurius';
import { modulesOf } from '../docs/page-modules';
import { TestApp, claimsOf } from '../support/hosts/app';
import { Mailbox, linkIn, memberOptions } from '../support/hosts/members';
import { CONFIRMATION_HEADER } from '../support/flows/step-up';
import { totpCode } from '@svc/auth/testing';
import { ADA, PASSWORD } from '../support/hosts/user-entities';

const NEXT = 'another-battery-staple';
const FIELDS = { name: 'Ada', email: ADA, password: PASSWORD };

const { AccountController }: Record<string, Type> =
  modulesOf('docs/recipes/own-routes.md')['src/account.controller.ts'];
const { AccountResolver }: Record<string, Type> = modulesOf('docs/recipes/graphql.md')['src/account.resolver.ts'];

const accountOptions = (mailer: Mailbox, cookieMode = false) =>
  memberOptions(mailer, {
    routes: false,
    path: 'v1',
    cookieMode,
    cookie: { secure: false },
    features: { twoFactor: true, lockout: true },
    lockout: { maxAttempts: 3 },
  });

describe('the routes of the recipe', () => {
  const mailbox = new Mailbox();
  const t = TestApp.forFile(() => ({ options: accountOptions(mailbox), controllers: [AccountController!] }));
  beforeEach(() => mailbox.clear());

  const send = (method: 'post' | 'get' | 'delete', path: string, token?: string, proof?: string) => {
    const call = t.http[method](`/v1/${path}`);
    if (token) void call.set('Authorization', `Bearer ${token}`);
    return proof ? call.set(CONFIRMATION_HEADER, proof) : call;
  };

  it('have the whole life of an account', async () => {
    const { body: tokens, headers } = await send('post', 'accounts').send(FIELDS).expect(201);
    expect(headers['cache-control']).toBe('no-store, private');
    const link = new URL(linkIn(await mailbox.nth(1)));
    // With a session: otherwise no person is proved, and the reset below would remove the second factor.
    await t.get(link.pathname + link.search, tokens.access_token).expect(204);
    const [{ verified }] = await t.database.query('SELECT email_verified_at IS NOT NULL AS verified FROM members');
    expect(verified).toBe(true);
    await send('post', 'email/notification', tokens.access_token).expect(202);

    const { body: renewed } = await send('post', 'renew').send({ refresh_token: tokens.refresh_token }).expect(200);
    const token: string = renewed.access_token;
    expect((await send('get', 'sessions', token).expect(200)).body).toHaveLength(1);

    await send('post', 'authenticator', token).expect(423);
    await send('post', 'proof', token).send({ secret: 'wrong' }).expect(422);
    const { proof } = (await send('post', 'proof', token).send({ secret: PASSWORD }).expect(200)).body;
    const { otpauthUri } = (await send('post', 'authenticator', token, proof).expect(200)).body;
    await send('post', 'authenticator/code', token, proof).send({ code: '000000' }).expect(422);
    await send('post', 'authenticator/code', token, proof)
      .send({ code: totpCode(otpauthUri, t.clock) })
      .expect(204);
    t.clock.advance(30);

    const { body: challenge } = await send('post', 'sign-in').send({ user: ADA, secret: PASSWORD }).expect(200);
    expect(challenge).toMatchObject({ two_factor: true, methods: ['totp', 'recovery_code'] });
    const answer = { challenge: challenge.challenge_token, code: totpCode(otpauthUri, t.clock) };
    const { body: second } = await send('post', 'second-factor').send(answer).expect(200);
    expect(claimsOf(second.access_token).amr).toEqual(['pwd', 'otp']);

    await send('post', 'password', token).send({ current: PASSWORD, next: NEXT }).expect(204);
    await send('get', 'sessions', second.access_token).expect(401);
    await send('post', 'forgotten-password').send({ email: ADA }).expect(202);
    const reset = new URL(linkIn(await mailbox.nth(2))).searchParams.get('token');
    await send('post', 'new-password').send({ token: reset, email: ADA, password: PASSWORD }).expect(204);
    await send('get', 'sessions', token).expect(401);

    t.clock.advance(30);
    const { body: again } = await send('post', 'sign-in').send({ user: ADA, secret: PASSWORD }).expect(200);
    const code = totpCode(otpauthUri, t.clock);
    const { body: last } = await send('post', 'second-factor').send({ challenge: again.challenge_token, code });
    const own: string = last.access_token;
    const confirmed = (await send('post', 'proof', own).send({ secret: PASSWORD }).expect(200)).body.proof;
    expect((await send('get', 'account', own, confirmed).expect(200)).body.account).toMatchObject({ identifier: ADA });
    await send('delete', 'account', own, confirmed).expect(204);
    await send('post', 'sign-in').send({ user: ADA, secret: PASSWORD }).expect(422);
  });

  it('sign out, and end all sessions', async () => {
    const { body: tokens } = await send('post', 'accounts').send(FIELDS).expect(201);
    const { body: other } = await send('post', 'sign-in').send({ user: ADA, secret: PASSWORD }).expect(200);
    await send('post', 'sign-out', tokens.access_token).expect(204);
    await send('get', 'sessions', tokens.access_token).expect(401);
    await send('delete', 'sessions', other.access_token).expect(204);
    await send('post', 'renew').send({ refresh_token: other.refresh_token }).expect(401);
  });

  it('answer garbage with 4xx, and lock an account that is guessed', async () => {
    for (const path of ['accounts', 'sign-in', 'second-factor', 'renew', 'forgotten-password', 'new-password']) {
      for (const body of [
        undefined,
        {},
        [],
        { user: {}, secret: [] },
        { email: 7, token: {}, password: null, challenge: [] },
      ]) {
        const { status } = await send('post', path).send(body);
        expect([path, body, status >= 400 && status < 500]).toEqual([path, body, true]);
      }
    }
    await t.http.get('/v1/email/verify/x/y?expires[]=1&signature[a]=2').expect(403);
    await send('post', 'accounts').send(FIELDS).expect(201);
    for (let i = 0; i < 3; i++) await send('post', 'sign-in').send({ user: ADA, secret: 'wrong' }).expect(422);
    const { body } = await send('post', 'sign-in').send({ user: ADA, secret: PASSWORD }).expect(423);
    expect(Object.keys(body.errors)).toEqual(['email']);
  });
});

describe('the routes of the recipe in cookie mode', () => {
  const t = TestApp.forFile(() => ({
    options: accountOptions(new Mailbox(), true),
    controllers: [AccountController!],
  }));

  it('set, read and remove the refresh cookie', async () => {
    const { body, headers } = await t.http.post('/v1/accounts').send(FIELDS).expect(201);
    expect(body).not.toHaveProperty('refresh_token');
    const cookie = headers['set-cookie']![0]!.split(';')[0]!;
    expect(cookie).toMatch(/^refresh=[\w-]{71}$/);
    const renewed = await t.http.post('/v1/renew').set('Cookie', cookie).expect(200);
    expect(renewed.headers['set-cookie']![0]).toMatch(/^refresh=[\w-]{71};.*HttpOnly/);
    await t.http.post('/v1/renew').set({ Cookie: cookie, 'Sec-Fetch-Site': 'cross-site' }).expect(403);
    const { headers: out } = await t.call('post', '/v1/sign-out', renewed.body.access_token).expect(204);
    expect(out['set-cookie']![0]).toMatch(/^refresh=;.*Max-Age=0/);
  });
});

type Http = Record<'req' | 'res', object>;
const ofTwo = (req: object, res: object): Http => ({ req, res });

describe.each([
  ['Apollo on Express', ApolloDriver, ({ req, res }: Http) => ({ req, res }), false],
  ['Apollo on Fastify', ApolloDriver, ofTwo, true],
  ['Mercurius on Fastify', MercuriusDriver, ofTwo, true],
])('the resolvers of the recipe, with %s', (_, driver, context, fastify) => {
  const mailbox = new Mailbox();
  const t = TestApp.forFile(() => ({
    options: accountOptions(mailbox),
    imports: [
      {
        module: class Accounts {},
        imports: [GraphQLModule.forRoot({ driver, autoSchemaFile: true, context } as object)],
        providers: [AccountResolver!],
      },
    ],
    fastify,
  }));
  beforeEach(() => mailbox.clear());

  /** Runs one operation with variables as literals. */
  const ask = async (operation: string, token?: string, proof?: string) => {
    const call = t.http.post('/graphql');
    if (token) void call.set('Authorization', `Bearer ${token}`);
    if (proof) void call.set(CONFIRMATION_HEADER, proof);
    const { body } = await call.send({ query: operation });
    return body as {
      data: Record<string, never> | null;
      errors?: { extensions: { status: number; errors?: object } }[];
    };
  };
  const mutate = async (field: string, token?: string, proof?: string) => {
    const { data, errors } = await ask(`mutation { result: ${field} }`, token, proof);
    expect(errors).toBeUndefined();
    return data!.result as never as Record<string, string> & string;
  };
  const refused = async (field: string, token?: string, proof?: string): Promise<object> =>
    (await ask(`mutation { result: ${field} }`, token, proof)).errors![0]!.extensions;
  const TOKENS = '{ accessToken refreshToken challengeToken methods }';

  it('have the whole life of an account', async () => {
    const first = await mutate(`register(name: "Ada", email: "${ADA}", password: "${PASSWORD}") ${TOKENS}`);
    const link = new URL(linkIn(await mailbox.nth(1)));
    const [id, hash] = link.pathname.split('/').slice(-2);
    const [expires, signature] = ['expires', 'signature'].map((name) => link.searchParams.get(name));
    const parts = `id: "${id}", hash: "${hash}", expires: "${expires}", signature: "${signature}"`;
    await mutate(`verifyEmail(${parts})`, first.accessToken);
    expect(await refused(`verifyEmail(${parts.replace(id!, 'x')})`)).toMatchObject({ status: 403 });

    const { accessToken: token } = await mutate(`refresh(refreshToken: "${first.refreshToken}") ${TOKENS}`);
    expect((await ask('{ sessionIds }', token)).data!.sessionIds).toHaveLength(1);
    expect(await refused('enrolAuthenticator { otpauthUri }', token)).toMatchObject({ status: 423, code: 'LOCKED' });
    const proof = await mutate(`confirmPassword(password: "${PASSWORD}")`, token);
    const { otpauthUri } = await mutate('enrolAuthenticator { otpauthUri }', token, proof);
    await mutate(`confirmAuthenticator(code: "${totpCode(otpauthUri!, t.clock)}")`, token, proof);
    t.clock.advance(30);

    const { challengeToken, methods } = await mutate(`login(email: "${ADA}", password: "${PASSWORD}") ${TOKENS}`);
    expect(methods).toEqual(['totp', 'recovery_code']);
    const answer = `challengeToken: "${challengeToken}", code: "${totpCode(otpauthUri!, t.clock)}"`;
    const second = await mutate(`secondFactor(${answer}) ${TOKENS}`);
    await mutate('logout', second.accessToken);
    expect((await ask('{ sessionIds }', second.accessToken)).errors).toHaveLength(1);

    await mutate(`changePassword(current: "${PASSWORD}", next: "${NEXT}")`, token);
    await mutate(`forgotPassword(email: "${ADA}")`);
    const reset = new URL(linkIn(await mailbox.nth(2))).searchParams.get('token');
    await mutate(`resetPassword(token: "${reset}", email: "${ADA}", password: "${PASSWORD}")`);
    t.clock.advance(30);
    const { challengeToken: next } = await mutate(`login(email: "${ADA}", password: "${PASSWORD}") ${TOKENS}`);
    const last = await mutate(
      `secondFactor(challengeToken: "${next}", code: "${totpCode(otpauthUri!, t.clock)}") ${TOKENS}`,
    );
    const confirmed = await mutate(`confirmPassword(password: "${PASSWORD}")`, last.accessToken);
    const { data } = await ask('{ accountExport }', last.accessToken, confirmed);
    expect(JSON.parse(data!.accountExport!)).toMatchObject({ account: { identifier: ADA } });
    await mutate('deleteAccount', last.accessToken, confirmed);
    expect(await refused(`login(email: "${ADA}", password: "${PASSWORD}") ${TOKENS}`)).toEqual({
      code: 'UNPROCESSABLE_ENTITY',
      status: 422,
      errors: { email: ['These credentials do not match our records.'] },
      headers: { 'X-Svc-Error-Codes': 'email=auth.wrong_credentials' },
    });
  });

  it('count concurrent sign-ins as one flood', async () => {
    await mutate(`register(name: "Ada", email: "${ADA}", password: "${PASSWORD}") ${TOKENS}`);
    const guess = () => refused(`login(email: "${ADA}", password: "guess") ${TOKENS}`);
    const statuses = (await Promise.all(Array.from({ length: 10 }, guess))).map(
      (error) => (error as { status: number }).status,
    );
    expect(statuses.toSorted()).toEqual([422, 422, 422, ...Array(7).fill(423)]);
  });
});
