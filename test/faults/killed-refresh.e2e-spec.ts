import { TestApp } from '../support/app';
import { describeWithRedis } from '../support/with-redis';
import { killRefreshes } from './scenarios/killed-refreshes';

describeWithRedis('a process that is killed in the middle of refreshes', () => {
  it('logs nobody out: every session goes on at another process', async () => {
    const survivor = await TestApp.start();
    const { trials, wrong, revoked } = await killRefreshes(survivor, 40);
    await survivor.stop();
    expect(trials).toBeGreaterThanOrEqual(40);
    expect({ wrong, revoked }).toEqual({ wrong: [], revoked: 0 });
  }, 180_000);
});
