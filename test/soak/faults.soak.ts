import { TestApp } from '../support/hosts/app';
import { describeWithRedis } from '../support/stores/with-redis';
import { BrokenNode } from '../faults/scenarios/broken-node';
import { sendThroughFaults } from '../faults/scenarios/faulty-requests';
import { killRefreshes } from '../faults/scenarios/killed-refreshes';
import { loadFor } from '../faults/scenarios/mixed-load';
import { restartUnderLoad } from '../faults/scenarios/restarts';

const MINUTE = 60_000;

/** The duration of the mixed load in minutes. */
const LOAD_MINUTES = Number(process.env.SOAK_MINUTES ?? 20);

const print = (what: string, figures: object): void =>
  void process.stdout.write(`${what}: ${JSON.stringify(figures)}\n`);

describeWithRedis('in the long run', () => {
  it(
    'a thousand refreshes whose process is killed sign no user out',
    async () => {
      const checker = await TestApp.start();
      const result = await killRefreshes(checker, 1000);
      await checker.stop();
      print('killed refreshes', result);
      expect(result).toMatchObject({ wrong: [], revoked: 0 });
    },
    30 * MINUTE,
  );

  it(
    'ten thousand requests through faults admit no invalid token, are answered within 1 s, and recover within 2 s',
    async () => {
      const options = { features: { lockout: true }, lockout: { maxAttempts: 100 }, storeTimeoutMs: 800 };
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
    'the memory does not grow, and every key expires',
    async () => {
      const start = Date.now();
      const result = await loadFor(() => Date.now() - start > LOAD_MINUTES * MINUTE, (LOAD_MINUTES * MINUTE) / 20);
      print('mixed load', result);
      expect(result).toMatchObject({ improper: [], lasting: [] });
      // The first quarter warms up the compiler, the pools and the caches.
      const warm = result.heap.slice(result.heap.length / 4);
      const half = warm.length / 2;
      const mean = (part: number[]): number => part.reduce((sum, value) => sum + value, 0) / part.length;
      expect(mean(warm.slice(half))).toBeLessThan(mean(warm.slice(0, half)) * 1.1);
    },
    (LOAD_MINUTES + 10) * MINUTE,
  );
});
