import { RefreshTokenReused } from '@svc/auth';
import { TestApp } from '../support/app';
import { describeWithRedis } from '../support/with-redis';

/** Seconds by which one node's clock is ahead of the other's. */
const APART = 60;

describeWithRedis('two nodes whose clocks are a minute apart', () => {
  const right = TestApp.forFile();
  const fast = TestApp.forFile(() => ({ databaseUrl: right.databaseUrl }));
  // The node's own time; the database's is the same for both.
  Object.assign(fast.clock, { now: () => right.clock.now() + APART * 1000 });

  beforeEach(() => right.person('ada@example.com'));

  /** The database's time moves on, for both. */
  const pass = (seconds: number): void => [right, fast].forEach((node) => node.clock.advance(seconds));

  it('take turns at refreshing one session', async () => {
    let tokens = await right.session();
    for (const node of [fast, right, fast, fast, right]) {
      tokens = (await node.refresh(tokens.refresh_token).expect(200)).body;
      await node.get('/private', tokens.access_token).expect(200);
    }
  });

  it('judge the grace window alike: a retry at the other one is honest, a replay after it is theft', async () => {
    const reused = [right, fast].map((node) => node.recorded(RefreshTokenReused));
    for (const [first, second] of [
      [right, fast],
      [fast, right],
    ] as const) {
      const { refresh_token: token } = await right.session();
      await first.refresh(token).expect(200);
      const { body: sibling } = await second.refresh(token).expect(200);
      pass(31);
      await second.refresh(token).expect(401);
      await first.refresh(sibling.refresh_token).expect(401);
    }
    expect(reused.flat()).toHaveLength(2);
  });

  it('refuse what was revoked at either of them', async () => {
    for (const [minting, ending] of [
      [fast, right],
      [right, fast],
    ] as const) {
      const { access_token: token } = await minting.session();
      const other = await ending.session();
      await ending.call('delete', '/auth/sessions', other.access_token).expect(204);
      for (const node of [right, fast]) await node.get('/private', token).expect(401);
    }
  });
});
