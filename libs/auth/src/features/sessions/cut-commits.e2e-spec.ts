import { SessionEnded } from '@svc/auth';
import { Denylist } from '../../identity/denylist/denylist';
import { type TestApp, type Tokens, claimsOf } from '../../../../../test/support/hosts/app';
import { createDatabase } from '../../../../../test/support/stores/database';
import { deniedKey } from '../../../../../test/support/stores/denylist-state';
import { eventually } from '../../../../../test/support/runtime/eventually';
import { whileStatementsFail } from '../../../../../test/support/faults/failing-statements';
import { type Mailbox, linkIn, member, startMembers } from '../../../../../test/support/hosts/members';
import { redisCache } from '../../../../../apps/sample/src/redis-cache';
import { RedisServer, type RedisClient } from '../../../../../test/support/stores/redis';
import { ADA } from '../../../../../test/support/flows/step-up';
import { TcpProxy } from '../../../../../test/support/faults/tcp-proxy';
import { PASSWORD } from '../../../../../test/support/hosts/user-entities';
import { describeWithOwnRedis } from '../../../../../test/support/stores/with-redis';

const NEXT = 'another horse entirely';
const GRACE = 30;

/** Where the connection to PostgreSQL is cut while a request ends sessions. */
type Point = 'before the denial' | 'instead of the commit' | 'instead of the answer to the commit';
const POINTS: Point[] = ['before the denial', 'instead of the commit', 'instead of the answer to the commit'];

interface World {
  /** The calling session, and others of the same user. */
  own: Tokens;
  others: Tokens[];
}

describeWithOwnRedis('a request that ends sessions and loses its connection to PostgreSQL', () => {
  let redis: RedisServer;
  let client: RedisClient;
  let proxy: TcpProxy;
  let drop: () => Promise<void>;
  /** The node whose connections are cut, and another one. */
  let t: TestApp;
  let mailbox: Mailbox;
  let other: TestApp;

  beforeAll(async () => {
    redis = await RedisServer.start();
    ({ client } = await redisCache(redis.url));
    const database = await createDatabase();
    drop = database.drop;
    proxy = await TcpProxy.to(Number(new URL(database.url).port));
    const options = { sessions: { maxPerUser: 3 }, graceSeconds: GRACE, features: { knownDevices: false } };
    const through = { databaseUrl: proxy.through(database.url), redisUrl: redis.url };
    ({ t, mailbox } = await startMembers(options, through));
    ({ t: other } = await startMembers(options, { databaseUrl: database.url, redisUrl: redis.url }));
  });
  beforeEach(async () => {
    mailbox.clear();
    proxy.heal();
    await t.reset();
    other.clock.reset();
    await member(t, ADA);
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(async () => {
    await t.stop();
    await other.stop();
    await proxy.close();
    await client.disconnect();
    await redis.stop();
    await drop();
  });

  /** Cuts the connections at the next end of sessions, once. */
  function cutAt(point: Point): void {
    const deny = Denylist.prototype.deny;
    const spied = jest.spyOn(Denylist.prototype, 'deny').mockImplementation(async function (this: Denylist, ids) {
      if (!ids.length) return deny.call(this, ids);
      spied.mockRestore();
      if (point === 'before the denial') proxy.cut();
      if (point === 'instead of the commit') proxy.instead('COMMIT', () => proxy.cut());
      if (point === 'instead of the answer to the commit') {
        // The server receives the commit; its answer is lost.
        proxy.instead('COMMIT', () => proxy.at(1, () => proxy.cut()));
      }
      await deny.call(this, ids);
    });
  }

  const bearer = ({ access_token: token }: Tokens): string => `Bearer ${token}`;
  const familyOf = ({ access_token: token }: Tokens): string => String(claimsOf(token).fid);

  const ACTS: Record<string, (world: World) => Promise<{ status: number }>> = {
    'a logout': async ({ own }) => t.call('post', '/auth/logout', own.access_token),
    'the end of all sessions': async ({ own }) => t.call('delete', '/auth/sessions', own.access_token),
    'the end of the other sessions': async ({ own }) => t.call('delete', '/auth/sessions/others', own.access_token),
    'the end of one session': async ({ own, others }) =>
      t.call('delete', `/auth/sessions/${familyOf(others[0]!)}`, own.access_token),
    'a change of the password': async ({ own }) =>
      t.call('post', '/auth/password', own.access_token).send({
        current_password: PASSWORD,
        password: NEXT,
        password_confirmation: NEXT,
      }),
    'a reset of the password': async () => {
      await t.http.post('/auth/forgot-password').send({ email: ADA }).expect(200);
      const token = linkIn(await mailbox.nth(1)).searchParams.get('token');
      return t.http
        .post('/auth/reset-password')
        .send({ token, email: ADA, password: NEXT, password_confirmation: NEXT });
    },
    'the limit of sessions': async () => t.login(ADA),
    'a reused refresh token': async ({ own }) => {
      await other.refresh(own.refresh_token).expect(200);
      for (const { clock } of [t, other]) clock.advance(GRACE + 10);
      return t.refresh(own.refresh_token);
    },
    'a deletion of the account': async ({ own }) => {
      const { body } = await other
        .call('post', '/auth/confirm-password', own.access_token)
        .send({ password: PASSWORD })
        .expect(200);
      return t.call('delete', '/auth/account', own.access_token).set('X-Svc-Confirmation', body.confirmation_token);
    },
  };
  const cases = Object.keys(ACTS).flatMap((act) => POINTS.map((point) => [act, point] as const));

  it.each(cases)(
    '%s, cut %s: a session that is denied is ended, and does not come back with the expiry of its denial',
    async (act, point) => {
      const own = await t.session(ADA);
      const others = [await t.session(ADA), await t.session(ADA)];
      cutAt(point);
      const { status } = await ACTS[act]!({ own, others });
      expect(status).toBe(503);
      const sessions = [own, ...others];
      const isDenied = async (one: Tokens): Promise<boolean> => (await client.exists(deniedKey(familyOf(one)))) === 1;
      const denied: Tokens[] = [];
      for (const one of sessions) if (await isDenied(one)) denied.push(one);
      if (point !== 'before the denial') expect(denied.length).toBeGreaterThan(0);
      const rows = (): Promise<{ id: string }[]> =>
        other.database.query('SELECT id FROM svc_sessions WHERE revoked_at IS NULL');
      await eventually(async () => {
        const live = new Set((await rows()).map(({ id }) => id));
        return denied.every((one) => !live.has(familyOf(one)));
      });
      // As after the expiry of the denials.
      for (const one of denied) await client.del(deniedKey(familyOf(one)));
      for (const node of [t, other]) {
        for (const one of denied) {
          await node.get('/private').set('Authorization', bearer(one)).expect(401);
          await node.refresh(one.refresh_token).expect(401);
        }
      }
    },
  );

  describe('and whose process was killed after the denial', () => {
    /** Denies the session as a request does before its commit. */
    const deny = (one: Tokens): Promise<unknown> => client.set(deniedKey(familyOf(one)), 'true', { EX: 600 });
    const live = async (): Promise<string[]> => {
      const rows = await t.database.query('SELECT id FROM svc_sessions WHERE revoked_at IS NULL');
      return rows.map(({ id }: { id: string }) => id);
    };
    const finishes: [how: string, send: (one: Tokens) => PromiseLike<unknown>][] = [
      ['a guarded request', (one) => t.get('/private').set('Authorization', bearer(one)).expect(401)],
      ['a request that ends sessions', (one) => t.call('delete', '/auth/sessions', one.access_token).expect(401)],
      ['a refresh', (one) => t.refresh(one.refresh_token).expect(401)],
    ];

    it.each(finishes)('is finished by %s: all denied sessions of the user end, and no others', async (_, send) => {
      const [own, other_, alive] = [await t.session(ADA), await t.session(ADA), await t.session(ADA)];
      const events = t.recorded(SessionEnded);
      await deny(own);
      await deny(other_);
      await send(own);
      expect(await live()).toEqual([familyOf(alive)]);
      expect(events.map(({ familyId, reason }) => `${familyId} ${reason}`).toSorted()).toEqual(
        [own, other_].map((one) => `${familyOf(one)} revoked`).toSorted(),
      );
      await t.get('/private').set('Authorization', bearer(alive)).expect(200);
      // From now on the denials last as long as access tokens.
      expect(await client.ttl(deniedKey(familyOf(own)))).toBeGreaterThan(600);
    });

    it.each(finishes)('is answered 503 by %s while the sessions cannot be written', async (_, send) => {
      const own = await t.session(ADA);
      await deny(own);
      await whileStatementsFail(t, 'UPDATE ON svc_sessions', async () => {
        await expect(send(own)).rejects.toThrow('got 503');
      });
      expect(await live()).toEqual([familyOf(own)]);
      await send(own);
      expect(await live()).toEqual([]);
    });

    it('is not concluded from a token that is denied by its own id', async () => {
      const own = await t.session(ADA);
      await client.set(`svc:dl:jti:${String(claimsOf(own.access_token).jti)}`, 'true', { EX: 600 });
      await t.get('/private').set('Authorization', bearer(own)).expect(401);
      expect(await live()).toEqual([familyOf(own)]);
      await t.refresh(own.refresh_token).expect(200);
    });
  });
});
