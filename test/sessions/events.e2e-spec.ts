import { Pruning, SessionEnded, SessionStarted } from '@svc/auth';
import { type Tokens, claimsOf } from '../support/hosts/app';
import { ADA, CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';
import { linkIn, member, membersForFile } from '../support/hosts/members';
import { PASSWORD } from '../support/hosts/user-entities';

const NEXT = 'another horse entirely';
const CHOSEN = { password: NEXT, password_confirmation: NEXT };
const AGENT = 'Lynx/2.9';

const { t, mailbox } = membersForFile({ sessions: { maxPerUser: 3 } });
let id: string;
let started: SessionStarted[];
let ended: SessionEnded[];

beforeEach(async () => {
  id = await member(t, ADA);
  await t.person('root@example.com', 'admin');
  [started, ended] = [t.recorded(SessionStarted), t.recorded(SessionEnded)];
});

const idOf = (access: string): string => String(claimsOf(access).fid);
/** Signs in with the user agent of a browser. */
const login = async (): Promise<Tokens> => {
  t.clock.advance(1);
  return (await t.login(ADA).set('User-Agent', AGENT).expect(200)).body;
};
const client = { ip: '127.0.0.1', userAgent: AGENT };
const endOf = ({ access_token: access }: Tokens, reason: SessionEnded['reason']) => ({
  guard: 'api',
  userId: id,
  familyId: idOf(access),
  client,
  amr: ['pwd'],
  reason,
});

describe('SessionStarted', () => {
  it('is emitted once for a login, with the client and the authentication methods', async () => {
    const { access_token: access } = await login();
    expect(started).toEqual([{ guard: 'api', userId: id, familyId: idOf(access), client, amr: ['pwd'], device: null }]);
  });

  it('is emitted once for a registration that signs in', async () => {
    const body = { name: 'Bob', email: 'bob@example.com', ...CHOSEN };
    const { body: tokens } = await t.http.post('/auth/register').set('User-Agent', AGENT).send(body);
    const { sub, fid } = claimsOf(tokens.access_token);
    expect(started).toEqual([{ guard: 'api', userId: sub, familyId: fid, client, amr: ['pwd'], device: null }]);
  });

  it('is emitted once for a session that server code starts, with its guard', async () => {
    const { accessToken } = await t.auth.guard('admin').startSession(1, { amr: ['sms'] }, ['a']);
    expect(started).toEqual([
      {
        guard: 'admin',
        userId: '1',
        familyId: idOf(accessToken),
        client: { ip: null, userAgent: null },
        amr: ['sms'],
        device: null,
      },
    ]);
  });

  it('is not emitted for a failed login, an unknown user or a refresh', async () => {
    await t.login(ADA, 'wrong').expect(422);
    await expect(t.auth.startSession('00000000-0000-4000-8000-000000000000')).rejects.toThrow();
    expect(started).toEqual([]);
    const { refresh_token: token } = await login();
    await t.refresh(token).expect(200);
    await t.refresh(token).expect(200);
    expect(started).toHaveLength(1);
  });
});

describe('SessionEnded', () => {
  let own: Tokens;
  let other: Tokens;
  beforeEach(async () => {
    [other, own] = [await login(), await login()];
  });

  const end = (method: 'post' | 'delete', path: string, { access_token: access } = own) =>
    t.call(method, `/auth/${path}`, access);
  /** Sorted, because sessions that end together have no order. */
  const expectEnds = (...ends: object[]): void => {
    expect(ended).toHaveLength(ends.length);
    expect(ended).toEqual(expect.arrayContaining(ends));
  };

  it('has the reason `logout` for a session that is signed out', async () => {
    await end('post', 'logout').expect(204);
    expectEnds(endOf(own, 'logout'));
  });

  it('has the reason `revoked` for each session when all are ended', async () => {
    await end('delete', 'sessions').expect(204);
    expectEnds(endOf(own, 'revoked'), endOf(other, 'revoked'));
  });

  it('has the reason `revoked` for a session that is ended from the list', async () => {
    await end('delete', `sessions/${idOf(other.access_token)}`).expect(204);
    expectEnds(endOf(other, 'revoked'));
  });

  it('has the reason `revoked` for sessions that server code ends', async () => {
    await t.auth.revoke(idOf(other.access_token));
    expectEnds(endOf(other, 'revoked'));
    await t.auth.revokeAll(id);
    expectEnds(endOf(other, 'revoked'), endOf(own, 'revoked'));
  });

  it('has the reason `others` for all sessions except the one that ends them', async () => {
    const third = await login();
    await end('delete', 'sessions/others').expect(204);
    expectEnds(endOf(other, 'others'), endOf(third, 'others'));
  });

  it('has the reason `password_change` for the other sessions after a change of password', async () => {
    await end('post', 'password')
      .send({ current_password: PASSWORD, ...CHOSEN })
      .expect(200);
    expectEnds(endOf(other, 'password_change'));
  });

  it('has the reason `password_reset` for each session, once', async () => {
    await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
    const token = linkIn(await mailbox.to(ADA)).searchParams.get('token');
    await t.http
      .post('/auth/reset-password')
      .send({ token, email: ADA, ...CHOSEN })
      .expect(200);
    expectEnds(endOf(own, 'password_reset'), endOf(other, 'password_reset'));
  });

  it('has the reason `reuse` for a session with a reused refresh token', async () => {
    const { body } = await t.refresh(own.refresh_token).expect(200);
    t.clock.advance(31);
    await t.refresh(own.refresh_token).expect(401);
    await t.refresh(own.refresh_token).expect(401);
    await t.refresh(body.refresh_token).expect(401);
    expectEnds(endOf(own, 'reuse'));
  });

  it('has the reason `cap` for a session beyond sessions.maxPerUser', async () => {
    await login();
    await login();
    expectEnds(endOf(other, 'cap'));
  });

  it('has the reason `erased` for each session of a deleted account', async () => {
    const proof = await confirmationTokenOf(t, own.access_token);
    await end('delete', 'account').set(CONFIRMATION_HEADER, proof).expect(204);
    expectEnds(endOf(own, 'erased'), endOf(other, 'erased'));
  });

  it('has the reason `expired` after a refresh past the deadline, and when the row is pruned', async () => {
    const revoked = await login();
    await t.auth.revoke(idOf(revoked.access_token));
    ended.length = 0;
    t.clock.advance(2_592_001);
    await Promise.all([t.refresh(own.refresh_token).expect(401), t.refresh(own.refresh_token).expect(401)]);
    await t.refresh(own.refresh_token).expect(401);
    expectEnds(endOf(own, 'expired'));
    // Rows are kept until the last access token has expired.
    t.clock.advance(1000);
    expect(await t.app.get(Pruning).run()).toMatchObject({ sessions: 3 });
    expectEnds(endOf(own, 'expired'), endOf(other, 'expired'));
  });

  it('is emitted once for concurrent and repeated requests to end a session', async () => {
    await Promise.all([
      ...Array.from({ length: 4 }, async () => end('post', 'logout')),
      ...Array.from({ length: 4 }, async () => end('delete', `sessions/${idOf(own.access_token)}`, other)),
      ...Array.from({ length: 4 }, async () => t.auth.revokeAll(id)),
    ]);
    await t.auth.revokeAll(id);
    await t.auth.revoke(idOf(own.access_token));
    expect(ended.map(({ familyId }) => familyId).toSorted()).toEqual(
      [own, other].map(({ access_token: access }) => idOf(access)).toSorted(),
    );
  });

  it('is not emitted for a refused request that ends no session', async () => {
    await t.refresh('f'.repeat(71)).expect(401);
    await end('delete', 'sessions/00000000-0000-4000-8000-000000000000').expect(404);
    await t.http.post('/auth/logout').expect(401);
    await t.auth.revoke('00000000-0000-4000-8000-000000000000');
    await t.auth.revoke('a session of a co-issuer');
    expect(ended).toEqual([]);
  });
});
