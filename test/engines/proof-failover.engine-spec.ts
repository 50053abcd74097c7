import { Device } from '../support/flows/bound-sessions';
import { eventually } from '../support/runtime/eventually';
import { redisBinary } from '../support/stores/redis';
import { RedisSentinels } from '../support/stores/redis-sentinels';
import { ADDRESS, to } from './binding-flows';
import { onSharedPostgres } from './engine';
import { Account, type Node, TwoNodes } from './nodes';

const suite = redisBinary ? describe : describe.skip;

suite('a proof that was used before a replica of Redis was promoted, which has not heard of it', () => {
  const nodes = new TwoNodes();
  afterAll(() => nodes.stop());

  it('is refused by the node that has accepted it and by the other one, and a new proof is accepted', async () => {
    // node-redis prints a message for an unreachable master.
    jest.spyOn(console, 'log').mockReturnValue();
    const sentinels = await RedisSentinels.start();
    const connect = async () => {
      const client = await sentinels.connect();
      return { cache: client, close: async () => void client.destroy() };
    };
    const options = { features: { boundSessions: true }, boundSessions: { addresses: [ADDRESS] } };
    await nodes.start(await onSharedPostgres(connect, () => sentinels.stop()), options);
    const account = await Account.create(nodes, { emailVerifiedAt: new Date(0) });
    const device = await Device.create();
    const { body } = await device.login(nodes.a.t, to('/auth/login'), account.email);
    const token = body.access_token;
    await sentinels.awaitReplication();
    await sentinels.cutReplication();
    // Older than the failover, and within the time of a proof.
    const iat = Math.floor(Date.now() / 1000) - 10;
    const proof = await device.proof('GET', `${ADDRESS}/private`, { token, claims: { iat } });
    const replayed = async ({ t }: Node): Promise<number> => (await device.get(t, '/private', token, { proof })).status;
    // The other node has seen no proof yet.
    expect(await replayed(nodes.a)).toBe(200);
    await sentinels.failover(true);
    // The other one first: each refusal is recorded, too.
    for (const node of [nodes.b, nodes.a]) {
      let status = 503;
      await eventually(async () => (status = await replayed(node)) !== 503);
      expect([node.name, status]).toEqual([node.name, 401]);
    }
    for (const { t } of nodes.all)
      await eventually(async () => (await device.get(t, '/private', token, to('/private'))).status === 200);
  });
});
