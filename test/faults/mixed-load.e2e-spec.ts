import { describeWithRedis } from '../support/with-redis';
import { loadFor } from './scenarios/mixed-load';

describeWithRedis('whatever clients do, with a fault now and then', () => {
  it('leaves no key that stays for ever, and nobody is answered 500', async () => {
    const { improper, keys, lasting } = await loadFor((requests) => requests >= 600);
    expect({ improper, lasting }).toEqual({ improper: [], lasting: [] });
    expect(keys).toBeGreaterThan(20);
  }, 120_000);
});
