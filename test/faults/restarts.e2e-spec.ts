import { restartUnderLoad } from './scenarios/restarts';

describe('a PostgreSQL that is restarted while sessions are refreshed', () => {
  it('loses no session, and makes nobody a thief', async () => {
    const result = await restartUnderLoad(2, 50);
    expect(result).toMatchObject({ lost: 0, killed: 0, improper: [] });
    expect(result.refreshes).toBeGreaterThan(result.unavailable);
  }, 120_000);
});
