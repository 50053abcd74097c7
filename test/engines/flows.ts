import { SessionEnded } from '@svc/auth';
import type { Tokens } from '../support/hosts/app';
import { HostController } from '../support/hosts/host.module';
import { KeyedOrders } from '../support/flows/access-keys';
import { REPORT_URL } from '../support/flows/known-devices';
import { accountFlows } from './account-flows';
import { ADDRESS, bindingFlows } from './binding-flows';
import type { Engine } from './engine';
import { Flow, STAFF, statuses } from './flow';
import { MOST_KEYS, keyFlows } from './key-flows';
import { IdentityProviderHost } from '../support/identity-provider/identity-provider';
import { identityFlows, identityOptions } from './identity-flows';
import { Account, type TwoNodes, refreshOf } from './nodes';
import { CODE_URL, factorFlows, signInFlows } from './sign-in-flows';

const GRACE = 30;
/** More than the five guesses at one mailed code. */
const LOCK_AFTER = 6;
const REFRESHES_A_MINUTE = 20;

/** Seconds: the access token, which is shorter, has expired when a session is idle. */
const [ACCESS, IDLE, WITHOUT_REMEMBER] = [900, 1800, 3600];

const UNLIMITED = { maxAttempts: 1e6 };

/** What clients do, on two nodes of an application that share the stores of an engine. */
export function flows(engine: Engine): void {
  const suite = engine.missing ? describe.skip : describe;
  const needs = engine.missing ? ` (needs ${engine.missing})` : '';
  suite(`two nodes on ${engine.name}${needs}`, () => {
    const flow = new Flow();
    const { nodes } = flow;
    let provider: IdentityProviderHost;

    beforeAll(async () => {
      provider = await IdentityProviderHost.start();
      const options: Parameters<TwoNodes['start']>[1] = {
        accessKeys: { maxPerUser: MOST_KEYS },
        accessTtl: ACCESS,
        sessions: { idleTimeout: IDLE, ttlWithoutRemember: WITHOUT_REMEMBER },
        features: {
          accessKeys: true,
          emailCode: true,
          knownDevices: true,
          emailChange: true,
          passkeyRegistration: true,
          conditionalCreate: true,
          identities: true,
          boundSessions: true,
        },
        boundSessions: { addresses: [ADDRESS] },
        identities: identityOptions(provider),
        emailCode: { frontendUrl: CODE_URL },
        knownDevices: { frontendUrl: REPORT_URL },
        twoFactor: { required: (user) => (user as { role: string }).role === STAFF, trustedDeviceDays: 30 },
        lockout: { maxAttempts: LOCK_AFTER },
        rateLimits: {
          login: { maxAttempts: 1e6, ipMaxAttempts: 1e6, accountMaxAttempts: 1e6 },
          refresh: { maxAttempts: REFRESHES_A_MINUTE },
          twoFactor: UNLIMITED,
          confirm: UNLIMITED,
          emailCode: UNLIMITED,
          passkeys: UNLIMITED,
          identities: UNLIMITED,
        },
      };
      await nodes.start(await engine.start(), options, [HostController, KeyedOrders]);
    });
    afterAll(() => Promise.all([nodes.stop(), provider.stop()]));
    beforeEach(() => flow.begin());

    // First: later flows move the clock, and the provider and the devices have their own.
    identityFlows(flow, () => provider);
    bindingFlows(flow);
    sessionFlows(flow);
    signInFlows(flow);
    factorFlows(flow);
    accountFlows(flow);
    keyFlows(flow);
    limitFlows(flow);
  });
}

function sessionFlows(flow: Flow): void {
  const { nodes } = flow;

  it('login: a session of one node is accepted by the other', async () => {
    const { a, b, user } = flow;
    await user.login(a, 422, 'wrong');
    const { access_token: token } = await user.session(a);
    const seen = await user.guarded(b, token);
    expect(seen.user).toMatchObject({ email: user.email });
    await user.guarded(a, token);
    await user.guarded(b, token.slice(0, -3), 401);
    await user.call(b, 401, { method: 'GET', path: '/private' });
  });

  it('refresh: each node continues a session of the other', async () => {
    const { a, b, user } = flow;
    let tokens = await user.session(a);
    for (const node of [b, a, b]) {
      const next = await user.refresh(node, tokens.refresh_token);
      expect(next.refresh_token).not.toBe(tokens.refresh_token);
      tokens = next;
    }
    await user.guarded(a, tokens.access_token);
  });

  it('refresh: eight at once with one token get one successor, and every answer is usable', async () => {
    const { a, b, user } = flow;
    const { refresh_token: token } = await user.session(a);
    const all = await Promise.all(Array.from({ length: 8 }, (_, i) => user.refresh(i % 2 ? a : b, token)));
    expect(new Set(all.map((one) => one.refresh_token)).size).toBe(1);
    for (const [i, { access_token: access }] of all.entries()) await user.guarded(i % 2 ? b : a, access);
    const rows = await a.t.database.query('SELECT generation FROM svc_sessions WHERE user_id = $1', [user.id]);
    expect(rows).toEqual([{ generation: 1 }]);
    await user.refresh(a, all[0]!.refresh_token);
  });

  it('refresh: a replay after the grace period ends the session on both nodes', async () => {
    const { a, b, user } = flow;
    const first = await user.session(a);
    const next = await user.refresh(b, first.refresh_token);
    expect((await user.refresh(a, first.refresh_token)).refresh_token).toBe(next.refresh_token);
    nodes.advance(GRACE + 1);
    await user.guarded(a, next.access_token);
    await user.refresh(a, first.refresh_token, 401);
    await flow.expectEnded(next);
  });

  it('idle time: a session that neither node refreshes is refused on both, and ends once', async () => {
    const { a, b, user } = flow;
    const [idle, first] = [await user.session(a), await user.session(a)];
    nodes.advance(IDLE - ACCESS);
    const used = await user.refresh(b, first.refresh_token);
    nodes.advance(ACCESS + 1);
    const ended = nodes.recorded(SessionEnded);
    expect(statuses(await flow.atOnce(refreshOf(idle.refresh_token)))).toEqual([401, 401]);
    const next = await user.refresh(a, used.refresh_token);
    expect(ended.filter(({ userId }) => userId === user.id).map(({ reason }) => reason)).toEqual(['idle']);
    await flow.expectEnded(idle);
    const { data } = await user.call(b, 200, { method: 'GET', path: '/auth/sessions', token: next.access_token });
    expect(data).toHaveLength(1);
  });

  it('remember: the other node ends a session that is not remembered at its deadline', async () => {
    const { a, b, user } = flow;
    let [short, remembered] = [
      (await user.call(a, 200, user.loginWith({ remember: false }))) as unknown as Tokens,
      await user.session(a),
    ];
    const half = WITHOUT_REMEMBER / 3;
    for (const node of [b, a]) {
      nodes.advance(half);
      short = await user.refresh(node, short.refresh_token);
      remembered = await user.refresh(node, remembered.refresh_token);
    }
    nodes.advance(half + 1);
    await flow.expectEnded(short);
    await user.refresh(b, remembered.refresh_token);
  });

  it('logout: the other node refuses the session at once', async () => {
    const { a, b, user } = flow;
    const [leaving, staying] = [await user.session(a), await user.session(a)];
    await user.guarded(b, leaving.access_token);
    await user.call(a, 204, { path: '/auth/logout', token: leaving.access_token });
    await flow.expectEnded(leaving);
    await user.guarded(b, staying.access_token);
  });

  it('logout: one request ends all sessions of the user, or all others', async () => {
    const { a, b, user } = flow;
    const [own, other, third] = [await user.session(a), await user.session(b), await user.session(a)];
    await user.call(b, 204, { method: 'DELETE', path: '/auth/sessions/others', token: own.access_token });
    await flow.expectEnded(other);
    await flow.expectEnded(third);
    await user.guarded(a, own.access_token);
    const another = await user.session(a);
    await user.call(b, 204, { method: 'DELETE', path: '/auth/sessions', token: another.access_token });
    await flow.expectEnded(own);
    await flow.expectEnded(another);
  });
}

function limitFlows(flow: Flow): void {
  const { nodes } = flow;

  it('rate limits: both nodes count together, also at the same time', async () => {
    const { a, b, user } = flow;
    const sent = Array.from({ length: REFRESHES_A_MINUTE + 4 }, (_, i) =>
      user.ask(i % 2 ? a : b, refreshOf('not a token')),
    );
    const counts = statuses(await Promise.all(sent));
    expect(counts.filter((status) => status === 401)).toHaveLength(REFRESHES_A_MINUTE);
    expect(new Set(counts)).toEqual(new Set([401, 429]));
    for (const node of nodes.all) expect((await user.ask(node, refreshOf('not a token'))).status).toBe(429);
    const someone = new Account();
    expect((await someone.ask(b, refreshOf('not a token'))).status).toBe(401);
  });

  it('lockout: both nodes count together, and no guess is admitted beyond the limit', async () => {
    const { a, b, user } = flow;
    const guesses = Array.from({ length: 3 * LOCK_AFTER }, (_, i) =>
      user.ask(i % 2 ? a : b, user.loginWith({}, 'wrong')),
    );
    const counts = statuses(await Promise.all(guesses));
    expect(counts.filter((status) => status === 422)).toHaveLength(LOCK_AFTER);
    expect(new Set(counts)).toEqual(new Set([422, 423]));
    for (const node of nodes.all) await user.login(node, 423);
  });
}
