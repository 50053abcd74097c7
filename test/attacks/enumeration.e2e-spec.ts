import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Attacked, type Visitor } from './support/attacked';
import { ROUTES, credentials, routeNamed } from './support/routes';
import { CHALLENGE, claimsOf, purposeToken } from './support/jws';
import type { Answer, Sent } from './support/wire';
import { linkIn } from '../support/members';
import { describeWithRedis } from '../support/with-redis';

const PASSWORDS = { password: 'plum-violin-harbour-7', password_confirmation: 'plum-violin-harbour-7' };

/** Headers that differ between any two answers. */
const OWN = new Set(['date', 'x-ratelimit-remaining', 'keep-alive']);

describeWithRedis('what an answer gives away of who is there', () => {
  let host: Attacked;
  let known: Visitor;

  beforeAll(async () => {
    host = await Attacked.start();
    known = await host.visitor();
  });
  afterAll(() => host.stop());

  const seen = ({ status, text, headers }: Answer): object => ({
    status,
    text,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN.has(name))),
  });

  /** What an answer says and what it cost, once everything behind it is done. */
  async function weighed(send: Sent): Promise<{ seen: object; hashes: number; queries: number }> {
    const before = await settled();
    const answer = await host.wire.send(send);
    const after = await settled();
    return { seen: seen(answer), hashes: after.hashes - before.hashes, queries: after.queries - before.queries };
  }

  async function settled(): Promise<{ hashes: number; queries: number }> {
    let last = await host.ask('work');
    for (;;) {
      await sleep(25);
      const now = await host.ask('work');
      if (now.queries === last.queries && now.hashes === last.hashes) return now;
      last = now;
    }
  }

  const post = (path: string, body: object): Sent => ({ method: 'POST', path, body });

  it.each(['api', 'admin'])('a failed login at %s: neither in what it says nor in what it does', async (guard) => {
    const { email } = await host.visitor(guard);
    const passwordless = await host.visitor(guard);
    const table = guard === 'api' ? 'members' : 'operators';
    await host.sql(`UPDATE ${table} SET password_hash = NULL WHERE email = $1`, [passwordless.email]);
    const login = (identifier: unknown): Sent =>
      post(`${host.paths[guard]}/login`, { email: identifier, password: 'wrong' });
    const right = await weighed(login(email));
    expect(right.hashes).toBe(1);
    for (const other of [`${randomUUID()}@example.com`, passwordless.email, 'x', `${email}\0`, "' OR 1=1 --"]) {
      const one = await weighed(login(other));
      expect({ other, seen: one.seen, hashes: one.hashes }).toEqual({ other, seen: right.seen, hashes: 1 });
    }
    const nobody = await weighed(login(`${randomUUID()}@example.com`));
    expect(nobody.queries).toBe(right.queries);
  });

  it('a forgotten password: neither in what it says nor in the hashes it costs', async () => {
    const forgot = (email: string): Sent => post('/auth/forgot-password', { email });
    const first = await weighed(forgot(known.email));
    const second = await weighed(forgot(known.email));
    const nobody = await weighed(forgot(`${randomUUID()}@example.com`));
    expect([second.seen, nobody.seen]).toEqual([first.seen, first.seen]);
    expect([second.hashes, nobody.hashes]).toEqual([first.hashes, first.hashes]);
  });

  it('a reset that fails: neither in what it says nor in what it does', async () => {
    await host.post('/auth/forgot-password', { email: known.email });
    const token = linkIn(await host.mailTo(known.email, 1)).searchParams.get('token')!;
    const stranger = await host.visitor();
    const reset = (email: string, secret: string): Sent =>
      post('/auth/reset-password', { email, token: secret, ...PASSWORDS });
    const wrong = await weighed(reset(known.email, 'f'.repeat(64)));
    expect(wrong.hashes).toBe(1);
    const others = [
      await weighed(reset(`${randomUUID()}@example.com`, token)),
      await weighed(reset(stranger.email, token)),
      await weighed(reset(stranger.email, 'f'.repeat(64))),
      await weighed(reset(known.email, token.toUpperCase())),
    ];
    expect(others).toEqual(others.map(() => wrong));
  });

  it('a refresh that fails, whatever is wrong with the token', async () => {
    const [revoked, expired] = [await host.visitor(), await host.visitor()];
    await host.wire.send({
      method: 'POST',
      path: '/auth/logout',
      headers: credentials({ needs: 'token' } as never, revoked),
    });
    await host.sql(`UPDATE svc_sessions SET expires_at = now() - interval '1 minute' WHERE id = $1`, [
      claimsOf(expired.access).fid,
    ]);
    const admin = await host.visitor('admin');
    const tokens = [
      revoked.refresh,
      expired.refresh,
      admin.refresh,
      'f'.repeat(64),
      'x',
      '',
      known.access,
      ['x'],
      null,
      7,
    ];
    const answers: object[] = [];
    for (const refresh_token of tokens) answers.push(seen(await host.post('/auth/refresh', { refresh_token })));
    expect(answers).toEqual(answers.map(() => answers[0]));
    expect(answers[0]).toMatchObject({ status: 401 });
  });

  it('a challenge that fails, whosever password it is not of', async () => {
    const answers: object[] = [];
    for (const visitor of [known, await host.visitor(), await host.visitor()])
      answers.push(
        seen(
          await host.post('/auth/two-factor-challenge', {
            challenge_token: purposeToken(CHALLENGE, visitor),
            code: '000000',
          }),
        ),
      );
    expect(answers).toEqual(answers.map(() => answers[0]));
  });

  it('the options of a passkey: they are asked for by nobody in particular', async () => {
    const shape = async (body: object): Promise<object> => {
      const { status, text } = await host.post('/auth/passkeys/login-options', body);
      const { ceremony_id, options } = JSON.parse(text);
      return { status, named: typeof ceremony_id, options: { ...options, challenge: typeof options.challenge } };
    };
    expect(await shape({ email: known.email })).toEqual(await shape({ email: 'nobody@example.com' }));
    expect(JSON.stringify(await shape({ email: known.email }))).not.toMatch(/allowCredentials":\[\{/);
  });

  it('a link to verify an email: whose it is, and what is wrong with it', async () => {
    const route = routeNamed('POST /auth/email/verification-notification');
    const visitor = await host.visitor();
    await host.post(route.path, {}, credentials(route, visitor));
    const { pathname, search } = linkIn(await host.mailTo(visitor.email, 1));
    const [start, id, hash] = [pathname.split('/').slice(0, -2).join('/'), ...pathname.split('/').slice(-2)];
    const forged = [
      `${start}/${known.id}/${hash}${search}`,
      `${start}/${randomUUID()}/${hash}${search}`,
      `${start}/${id}/${'a'.repeat(40)}${search}`,
      `${pathname}${search}&x=1`,
      `${pathname}?x=1&${search.slice(1)}`,
      `${pathname}${search.replace(/expires=\d/, 'expires=9')}`,
      `${pathname}${search.slice(0, -1)}`,
      `${pathname}`,
      `${pathname}?signature=x&expires=1`,
      `${pathname}?expires=1&expires=2&signature[]=x`,
    ];
    const answers: object[] = [];
    for (const path of forged) answers.push(seen(await host.wire.send({ path })));
    expect(answers).toEqual(answers.map(() => answers[0]));
    expect(answers[0]).toMatchObject({ status: 403 });
    const rows = await host.sql('SELECT 1 FROM members WHERE email_verified_at IS NOT NULL');
    expect(rows).toEqual([]);
  });

  it('no route says who is there to somebody without a token', async () => {
    const answers = ROUTES.filter(({ needs, guard }) => needs !== 'nothing' && guard === 'api').map(
      ({ method, path }) => host.wire.send({ method, path, body: { email: known.email } }),
    );
    const all = (await Promise.all(answers)).map(({ status, text }) => ({ status, text }));
    expect(all).toEqual(all.map(() => ({ status: 401, text: '{"message":"Authentication is required."}' })));
  });

  it('leaves the process whole', async () => {
    expect(await host.aftermath()).toEqual([]);
  });
});
