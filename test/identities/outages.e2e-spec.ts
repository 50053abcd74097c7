import { claimsOf, type Tokens } from '../support/hosts/app';
import { member } from '../support/hosts/members';
import { StoreTimeouts, HELD_MS } from '../support/faults/store-timeouts';
import { type Begun, GRACE, IdentityHost, PAGES, REFUSED } from '../support/flows/identities';
import { confirmationTokenOf } from '../support/flows/step-up';
import { eventually } from '../support/runtime/eventually';
import { whileUnreachable } from '../support/stores/database';
import { RedisServer } from '../support/stores/redis';
import { describeWithOwnRedis } from '../support/stores/with-redis';

const exchanges = ({ acme }: IdentityHost): number => acme.requests.filter((endpoint) => endpoint === 'token').length;

describe('a callback that PostgreSQL has not answered after the exchange of the code', () => {
  const host = IdentityHost.forFile({ rateLimits: { confirm: { maxAttempts: 100 } } });
  const { t } = host;
  let begun: Begun;
  let parameters: string;
  const send = (attempt = begun, more: object = {}) => host.send(parameters, attempt.attempt_token, 'acme', more);

  /** Begins a sign-in, whose callback is answered 503 after the exchange. */
  async function unanswered(): Promise<void> {
    begun = await host.begin();
    parameters = await host.signedIn(begun.authorization_url, GRACE);
    await whileUnreachable(t.databaseUrl, () => send().expect(503));
    expect(exchanges(host)).toBe(1);
  }

  it('signs in when it is repeated, once, with what the provider has said before', async () => {
    await unanswered();
    await whileUnreachable(t.databaseUrl, () => send().expect(503));
    const { body } = await send().expect(200);
    expect(claimsOf(body.access_token).amr).toEqual(['fed']);
    expect((await send().expect(422)).body).toEqual(REFUSED);
    expect(exchanges(host)).toBe(1);
  });

  it('signs in once, of many at the same time', async () => {
    await unanswered();
    const answers = await Promise.all(Array.from({ length: 4 }, async () => (await send()).status));
    expect(answers.toSorted()).toEqual([200, 422, 422, 422]);
    expect(exchanges(host)).toBe(1);
  });

  it('is of no use in another browser, at another page, with another state, or after the end of the attempt', async () => {
    await unanswered();
    const other = await host.begin();
    await send(other).expect(422);
    await send({ ...begun, attempt_token: 'f'.repeat(64) }).expect(422);
    await send(begun, { redirect_uri: PAGES[1] }).expect(422);
    const query = new URLSearchParams(parameters);
    query.set('state', new URL(other.authorization_url).searchParams.get('state')!);
    await host.send(String(query), begun.attempt_token).expect(422);
    t.clock.advance(600);
    await send().expect(422);
    expect(exchanges(host)).toBe(1);
  });

  it('creates an account of a person from whom fields are asked', async () => {
    begun = await host.begin();
    parameters = await host.signedIn(begun.authorization_url, { ...GRACE, name: undefined });
    await whileUnreachable(t.databaseUrl, () => send().expect(503));
    const { body } = await send().expect(200);
    const fields = { name: 'Grace', continuation_token: body.continuation_token };
    await whileUnreachable(t.databaseUrl, () => t.http.post('/auth/identities/register').send(fields).expect(503));
    await t.http.post('/auth/identities/register').send(fields).expect(200);
  });

  it('links, and confirms, in the session that has begun it', async () => {
    await member(t, 'ada@example.org');
    const ada = await t.session('ada@example.org');
    const [link] = [await host.beginLink(ada, await confirmationTokenOf(t, ada.access_token), 'acme')];
    await repeated(ada, 'identities/acme/link/callback', link);
    const grace = await host.session();
    const { body } = await host.call('post', 'confirm-identity', grace).send({ provider: 'acme' }).expect(200);
    await repeated(grace, 'confirm-identity/callback', body);
  });

  /** A callback of a session passes the guard, which reads the session, before PostgreSQL is away. */
  async function repeated(session: Tokens, path: string, attempt: Begun): Promise<void> {
    const answer = {
      provider: 'acme',
      parameters: await host.signedIn(attempt.authorization_url, GRACE),
      attempt_token: attempt.attempt_token,
      redirect_uri: PAGES[0],
    };
    const callback = () => host.call('post', path, session).send(answer);
    const before = exchanges(host);
    let restore = (): void => undefined;
    const over = new Promise<void>((resolve) => (restore = resolve));
    let outage: Promise<void> | undefined;
    host.acme.before(
      'token',
      () =>
        new Promise<void>((resolve) => {
          outage = whileUnreachable(t.databaseUrl, () => {
            resolve();
            return over;
          });
        }),
    );
    await callback().expect(503);
    restore();
    await outage;
    await callback().expect(200);
    await callback().expect(422);
    expect(exchanges(host)).toBe(before + 1);
  }
});

describeWithOwnRedis('a callback that Redis has not answered after the exchange of the code', () => {
  let redis: RedisServer;
  let host: IdentityHost;
  let begun: Begun;
  let parameters: string;
  const send = () => host.send(parameters, begun.attempt_token);

  beforeEach(async () => {
    redis = await RedisServer.start();
    host = await IdentityHost.start({ storeTimeoutMs: HELD_MS }, { redisUrl: redis.url });
    await host.session();
    begun = await host.begin();
    parameters = await host.signedIn(begun.authorization_url, GRACE);
    host.acme.requests = [];
  });
  afterEach(async () => {
    await host.stop();
    await redis.stop();
  });

  it('signs in when it is repeated, once', async () => {
    let isFrozen = false;
    host.acme.before('token', () => {
      redis.freeze();
      isFrozen = true;
    });
    // Before it, an answer of a slow store would be lost, and the attempt with it.
    const timeouts = StoreTimeouts.of(host.t.app);
    await timeouts.during(
      () => send().expect(503),
      () => isFrozen,
    );
    redis.thaw();
    await eventually(async () => (await send()).status === 200);
    await host.t.calm();
    await send().expect(422);
    expect(exchanges(host)).toBe(1);
  });

  it('signs in also if Redis comes back without its data', async () => {
    host.acme.before('token', () => redis.stop());
    await send().expect(503);
    await redis.start();
    await eventually(async () => (await send()).status === 200);
    expect(exchanges(host)).toBe(1);
  });
});
