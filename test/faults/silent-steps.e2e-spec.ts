import { randomUUID } from 'node:crypto';
import { type Mailbox, linkIn, member, startMembers } from '../support/members';
import { PASSWORD } from '../support/people';
import { describeWithRedis } from '../support/with-redis';
import { BrokenNode, type Timed } from './scenarios/broken-node';

const STORE_TIMEOUT_MS = 600;
/** In either direction: two answers are in time, and a third one is not. */
const SLOW_MS = 125;
const CHOSEN = { password: 'another horse entirely', password_confirmation: 'another horse entirely' };

describeWithRedis('a store that falls silent in the middle of a request', () => {
  let node: BrokenNode;
  let mailbox: Mailbox;

  beforeAll(async () => {
    node = await BrokenNode.start(async (stores) => {
      const started = await startMembers({ storeTimeoutMs: STORE_TIMEOUT_MS, features: { lockout: true } }, stores);
      mailbox = started.mailbox;
      return started.t;
    });
  });
  afterAll(() => node.stop());

  /** Prepares a request of its own. */
  type Deed = (email: string) => Promise<() => Promise<Timed>>;

  const signedIn: (request: (tokens: { access_token: string; refresh_token: string }) => Promise<Timed>) => Deed =
    (request) => async (email) => {
      await member(node.t, email);
      const tokens = await node.t.session(email);
      return () => request(tokens);
    };

  const deeds: Record<string, Deed> = {
    login: async (email) => {
      await member(node.t, email);
      return () => node.call('POST', '/auth/login', { email, password: PASSWORD });
    },
    'a wrong login': async (email) => {
      await member(node.t, email);
      return () => node.call('POST', '/auth/login', { email, password: 'wrong' });
    },
    refresh: signedIn((tokens) => node.call('POST', '/auth/refresh', tokens)),
    'a reset': async (email) => {
      await member(node.t, email);
      await node.t.http.post('/auth/forgot-password').send({ email }).expect(200);
      const token = linkIn(await mailbox.to(email)).searchParams.get('token');
      return () => node.call('POST', '/auth/reset-password', { email, token, ...CHOSEN });
    },
  };

  it.each(Object.keys(deeds))(
    'is waited for once, and never answered 500: %s',
    async (name) => {
      await member(node.t, `${name.replaceAll(' ', '-')}@example.com`);
      const witness = await node.t.session(`${name.replaceAll(' ', '-')}@example.com`);
      for (const proxy of [node.redis, node.postgres]) {
        for (let answer = 1, fired = true; fired; answer++) {
          const request = await deeds[name]!(`${randomUUID()}@example.com`);
          proxy.at(answer, () => proxy.hang());
          const { status, ms } = await request();
          fired = !proxy.isWaiting;
          node.heal();
          await node.recovery(witness);
          // One wait, and what little is granted to put things right; not one wait for each thing.
          expect({ answer, status, inTime: ms < 2 * STORE_TIMEOUT_MS }).toMatchObject({ answer, inTime: true });
          expect([200, 422, 503]).toContain(status);
        }
      }
    },
    120_000,
  );

  it.each(Object.keys(deeds))(
    'and one that answers slowly is waited for once, however often it is asked: %s',
    async (name) => {
      const email = `${randomUUID()}@example.com`;
      const request = await deeds[name]!(email);
      const witness = await node.t.session(email);
      for (const proxy of [node.redis, node.postgres]) proxy.slow(SLOW_MS);
      const { status, ms } = await request();
      node.heal();
      await node.recovery(witness);
      expect({ status, inTime: ms < STORE_TIMEOUT_MS + 2 * SLOW_MS }).toEqual({ status: 503, inTime: true });
      // Whoever is told so has lost nothing.
      expect((await request()).status).toBe(name === 'a wrong login' ? 422 : 200);
    },
  );
});
