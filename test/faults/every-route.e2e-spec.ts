import { randomUUID } from 'node:crypto';
import type { Tokens } from '../support/app';
import { ADA, HEADER, proofOf } from '../support/confirming';
import { member, startMembers } from '../support/members';
import { PASSKEYS } from '../support/passkeys';
import { PASSWORD } from '../support/people';
import { routesOf } from '../support/routes';
import { describeWithRedis } from '../support/with-redis';
import { BrokenNode } from './scenarios/broken-node';

const CHOSEN = { password: 'another horse entirely', password_confirmation: 'another horse entirely' };

/** What each route is sent: enough that it has to ask a store. */
const BODIES: Record<string, object> = {
  'POST login': { email: ADA, password: PASSWORD },
  'POST confirm-password': { password: PASSWORD },
  'POST password': { current_password: PASSWORD, ...CHOSEN },
  'POST register': { name: 'Bob', email: 'bob@example.com', ...CHOSEN },
  'POST forgot-password': { email: ADA },
  'POST reset-password': { email: ADA, token: 'f'.repeat(64), ...CHOSEN },
  'POST two-factor/confirm': { code: '000000' },
  'POST two-factor-challenge': { code: '000000', challenge_token: 'none' },
  'POST passkeys/login': { ceremony_id: randomUUID(), credential: {} },
  'PATCH passkeys/:svcPasskey': { name: 'phone' },
};

/** What PostgreSQL is not asked for. */
const WITHOUT_POSTGRES = ['GET jwks', 'HEAD email/verify/:id/:hash', 'POST passkeys/login-options'];

/** The longest wait for a store, with room for a slow machine: less than two such waits. */
const IN_TIME_MS = 1500;

describeWithRedis('without an answer from a store, every route', () => {
  let node: BrokenNode;
  let live: Tokens;
  let proof: string;

  beforeAll(async () => {
    const features = { ...PASSKEYS.features, twoFactor: true };
    // Every route is asked at once, and none is to wait for another one's connection.
    node = await BrokenNode.start(
      async (stores) => (await startMembers({ ...PASSKEYS, features }, { ...stores, pool: { max: 60 } })).t,
    );
    await member(node.t, ADA);
    live = await node.t.session();
    proof = await proofOf(node.t, live.access_token);
  });
  afterEach(async () => {
    node.heal();
    await node.recovery(live);
  });
  afterAll(() => node.stop());

  async function call(route: string) {
    const [method, path] = route.split(' ') as [string, string];
    const name = `${method} ${path.replace(/^\/(admin\/)?auth\//, '')}`;
    const start = performance.now();
    const { status, headers } = await node.t.http[method.toLowerCase() as 'post'](
      path.replaceAll(/:\w+/g, randomUUID()),
    )
      .set('Authorization', `Bearer ${live.access_token}`)
      .set(HEADER, proof)
      .send(['GET', 'HEAD'].includes(method) ? undefined : (BODIES[name] ?? { refresh_token: live.refresh_token }));
    const isInTime = performance.now() - start < IN_TIME_MS;
    return { name, status, isInTime, retryAfter: headers['retry-after'] as string | undefined };
  }

  it.each([
    ['Redis is down', () => node.redis.down(), ['GET jwks']],
    ['Redis hangs', () => node.redis.hang(), ['GET jwks']],
    ['PostgreSQL is down', () => node.postgres.down(), WITHOUT_POSTGRES],
    ['PostgreSQL hangs', () => node.postgres.hang(), WITHOUT_POSTGRES],
    ['both hang', () => (node.redis.hang(), node.postgres.hang()), ['GET jwks']],
  ])('refuses in time, or needs it for nothing, while %s', async (_, breakDown, working) => {
    breakDown();
    const answers = await Promise.all(routesOf(node.t).map(call));
    expect(answers.filter(({ isInTime }) => !isInTime)).toEqual([]);
    expect(new Set(answers.filter(({ status }) => status < 400).map(({ name }) => name))).toEqual(new Set(working));
    const failed = answers.filter(({ status }) => status >= 500);
    expect(failed.filter(({ status, retryAfter }) => status !== 503 || retryAfter !== '1')).toEqual([]);
    expect(failed.length).toBeGreaterThan(20);
  });
});
