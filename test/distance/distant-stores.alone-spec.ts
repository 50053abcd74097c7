import { AuthEvents, Registered } from '@svc/auth';
import { BrokenNode } from '../faults/scenarios/broken-node';
import { FEATURE_FLOWS, FLOWS, flowOptions, prepared } from '../support/flows/account-flows';
import { TestApp } from '../support/hosts/app';
import { IdentityProviderHost } from '../support/identity-provider/identity-provider';
import { Mailbox } from '../support/hosts/members';
import { PASSWORD } from '../support/hosts/user-entities';
import { describeWithRedis } from '../support/stores/with-redis';

const FORM = { name: 'Ada', password: PASSWORD, password_confirmation: PASSWORD };

describeWithRedis('with the default storeTimeoutMs', () => {
  const mailbox = new Mailbox();
  let node: BrokenNode;
  let provider: IdentityProviderHost;

  beforeAll(async () => {
    provider = await IdentityProviderHost.start();
    const options = { ...flowOptions(mailbox, provider, true), storeTimeoutMs: undefined };
    // The flows run at the same time, and do not wait for each other's connections.
    node = await BrokenNode.start((stores) => TestApp.start({ options, ...stores, pool: { max: 100 } }));
  });
  afterEach(() => node.heal());
  afterAll(() => Promise.all([node.stop(), provider.stop()]));

  /** Both stores answer after this time. */
  const moveAway = (ms: number): void => [node.redis, node.postgres].forEach((proxy) => proxy.slow(ms / 2));

  it.each([60, 100])('every flow works with both stores %i ms away', async (ms) => {
    await node.t.reset();
    mailbox.clear();
    const sends = [];
    const of = { t: node.t, mailbox, provider };
    for (const flow of [...FLOWS, ...FEATURE_FLOWS]) sends.push({ flow, send: await prepared(flow, of) });
    moveAway(ms);
    const failures = await Promise.all(
      sends.map(({ flow: [name], send }) =>
        send().then(
          () => [],
          (error: Error) => `${name}: ${error.message}`,
        ),
      ),
    );
    expect(failures.flat()).toEqual([]);
  });

  it('a registration that is repeated at this distance is refused, whatever the password', async () => {
    moveAway(100);
    const register = (password: string) =>
      node.t.http
        .post('/auth/register')
        .send({ ...FORM, email: 'ada@example.com', password, password_confirmation: password });
    await register(PASSWORD).expect(200);
    const [same, other] = [await register(PASSWORD), await register('another horse entirely')];
    expect([same.status, other.status]).toEqual([422, 422]);
    expect(same.text).toBe(other.text);
  });

  it.each([
    ['PostgreSQL', () => node.postgres],
    ['both stores', () => (node.redis.hang(), node.postgres)],
  ])(
    'a registration answers 201 without a session if %s stopped after the account was stored',
    async (name, stopped) => {
      const email = `${name.replace(' ', '-')}@example.com`.toLowerCase();
      const stop = node.t.app.get(AuthEvents).on(Registered, () => stopped().hang());
      const { status, body } = await node.t.http.post('/auth/register').send({ ...FORM, email });
      stop();
      node.heal();
      expect({ status, body }).toEqual({ status: 201, body: { registered: true, requires_verification: false } });
      await node.t.login(email).expect(200);
    },
  );
});
