import { TestApp } from '../support/app';
import { describeWithRedis } from '../support/with-redis';
import { BrokenNode } from '../faults/scenarios/broken-node';
import { sendThroughFaults } from '../faults/scenarios/faulty-requests';
import { killRefreshes } from '../faults/scenarios/killed-refreshes';
import { loadFor } from '../faults/scenarios/mixed-load';
import { restartUnderLoad } from '../faults/scenarios/restarts';

const MINUTE = 60_000;

/** Minutes of the mixed load. */
const LOAD_MINUTES = Number(process.env.SOAK_MINUTES ?? 20);

const print = (what: string, figures: object): void =>
  void process.stdout.write(`${what}: ${JSON.stringify(figures)}\n`);

describeWithRedis('in the long run', () => {
  it(
    'a thousand refreshes that die with their process log nobody out',
    async () => {
      const survivor = await TestApp.start();
      const result = await killRefreshes(survivor, 1000);
      await survivor.stop();
      print('killed refreshes', result);
      expect(result).toMatchObject({ wrong: [], revoked: 0 });
    },
    30 * MINUTE,
  );

  it(
    'ten thousand requests through faults let nobody in, are answered within a second, and recover within two',
    async () => {
      const options = { features: { lockout: true }, lockout: { maxAttempts: 1e6 } };
      const node = await BrokenNode.start((stores) => TestApp.start({ options, ...stores }));
      const result = await sendThroughFaults(node, 10_000);
      await node.stop();
      print('requests through faults', result);
      expect(result).toMatchObject({ failedOpen: 0, loggedOut: 0, improper: [], alive: true });
      expect(result.slowest).toBeLessThan(1000);
      expect(result.slowestRecovery).toBeLessThan(2000);
    },
    30 * MINUTE,
  );

  it(
    'ten restarts of PostgreSQL under a hundred refreshes a second lose no session',
    async () => {
      const result = await restartUnderLoad(10, 100);
      print('restarts', result);
      expect(result).toMatchObject({ lost: 0, killed: 0, improper: [] });
    },
    10 * MINUTE,
  );

  it(
    'the memory stays flat, and no key stays for ever',
    async () => {
      const start = Date.now();
      const result = await loadFor(() => Date.now() - start > LOAD_MINUTES * MINUTE, (LOAD_MINUTES * MINUTE) / 20);
      print('mixed load', result);
      expect(result).toMatchObject({ improper: [], lasting: [] });
      // The first quarter warms up: compiler, pools, caches.
      const warm = result.heap.slice(result.heap.length / 4);
      const half = warm.length / 2;
      const mean = (part: number[]): number => part.reduce((sum, one) => sum + one, 0) / part.length;
      expect(mean(warm.slice(half))).toBeLessThan(mean(warm.slice(0, half)) * 1.1);
    },
    (LOAD_MINUTES + 10) * MINUTE,
  );
});
