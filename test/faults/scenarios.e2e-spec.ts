import { TestApp } from '../support/hosts/app';
import { describeWithRedis } from '../support/stores/with-redis';
import { BrokenNode } from './scenarios/broken-node';
import { sendThroughFaults } from './scenarios/faulty-requests';
import { killRefreshes } from './scenarios/killed-refreshes';
import { loadFor } from './scenarios/mixed-load';
import { restartUnderLoad } from './scenarios/restarts';

/** The soak tests run the same scenarios for longer: `test/soak/faults.soak.ts`. */
describeWithRedis('while stores and processes fail', () => {
  it('three hundred requests accept no ended session, end no live one, and are never answered 500', async () => {
    const options = { features: { lockout: true }, lockout: { maxAttempts: 100 } };
    const node = await BrokenNode.start((stores) => TestApp.start({ options, ...stores }));
    const result = await sendThroughFaults(node, 300, 500);
    await node.stop();
    expect(result).toMatchObject({ failedOpen: 0, loggedOut: 0, improper: [], alive: true });
  });

  it('a mixed load leaves no key without expiry and is never answered 500', async () => {
    const { improper, keys, lasting } = await loadFor((requests) => requests >= 400);
    expect({ improper, lasting }).toEqual({ improper: [], lasting: [] });
    expect(keys).toBeGreaterThan(20);
  });

  it('a process that is killed during refreshes ends no session: every client continues at another process', async () => {
    const survivor = await TestApp.start();
    const { trials, committed, wrong, revoked } = await killRefreshes(survivor, 20);
    await survivor.stop();
    expect(trials).toBeGreaterThanOrEqual(20);
    expect(committed).toBeGreaterThanOrEqual(5);
    expect({ wrong, revoked }).toEqual({ wrong: [], revoked: 0 });
  });

  it('a PostgreSQL that is restarted during refreshes loses no session and causes no false reuse', async () => {
    const result = await restartUnderLoad(2, 50);
    expect(result).toMatchObject({ lost: 0, killed: 0, improper: [] });
    expect(result.refreshes).toBeGreaterThan(result.unavailable);
  });
});
