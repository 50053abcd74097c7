import { TestApp } from '../support/app';
import { describeWithRedis } from '../support/with-redis';
import { BrokenNode } from './scenarios/broken-node';
import { sendThroughFaults } from './scenarios/faulty-requests';

describeWithRedis('six hundred requests while the stores break and come back', () => {
  it('let nobody in who was signed out, sign nobody out, and are never answered 500', async () => {
    const options = { features: { lockout: true }, lockout: { maxAttempts: 1e6 } };
    const node = await BrokenNode.start((stores) => TestApp.start({ options, ...stores }));
    const result = await sendThroughFaults(node, 600);
    await node.stop();
    expect(result).toMatchObject({ failedOpen: 0, loggedOut: 0, improper: [], alive: true });
    expect(result.faults).toBeGreaterThan(2);
  }, 180_000);
});
