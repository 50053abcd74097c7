import { type Limit, type Outcome, SecurityStore } from '@svc/auth';
import { MemorySecurityStore } from '../../libs/auth/src/security-store/memory-security-store';
import { MovableClock, TestApp } from '../support/app';
import { ADA } from '../support/confirming';
import { eventually } from '../support/eventually';

describe('a store in memory', () => {
  it('forgets no revocation when its process is started again', async () => {
    const first = await TestApp.start({ redisUrl: '' });
    await first.person(ADA);
    const [live, revoked] = [await first.session(ADA), await first.session(ADA)];
    await first.call('post', '/auth/logout', revoked.access_token).expect(204);
    const second = await TestApp.start({ redisUrl: '', databaseUrl: first.databaseUrl });
    await second.get('/private', revoked.access_token).expect(401);
    await second.get('/private', live.access_token).expect(200);
    await second.stop();
    await first.stop();
  });
});

/** A store of a host's own, that knows nothing of connections and may forget everything. */
class OwnStore extends SecurityStore {
  readonly shared = true;
  private below = new MemorySecurityStore(new MovableClock());

  forget(): void {
    this.below = new MemorySecurityStore(new MovableClock());
  }

  getMany = (keys: readonly string[]) => this.below.getMany(keys);
  setMany = (keys: readonly string[], value: string, ttl: number) => this.below.setMany(keys, value, ttl);
  add = (key: string, value: string, ttl: number) => this.below.add(key, value, ttl);
  take = (key: string) => this.below.take(key);
  advance = (key: string, to: number, ttl: number) => this.below.advance(key, to, ttl);
  count = (limits: readonly Limit[], pending?: boolean) => this.below.count(limits, pending);
  settle = (limits: readonly Limit[], outcome: Outcome) => this.below.settle(limits, outcome);
}

describe('a store of the host`s own', () => {
  it('brings no revoked token back either', async () => {
    const store = new OwnStore();
    const t = await TestApp.start({ options: { cache: store } });
    await t.person(ADA);
    const [live, revoked] = [await t.session(ADA), await t.session(ADA)];
    await t.call('post', '/auth/logout', revoked.access_token).expect(204);
    for (let round = 0; round < 5; round++) {
      store.forget();
      await t.get('/private', revoked.access_token).expect(401);
      await t.get('/private', live.access_token).expect(200);
      await eventually(async () => (await store.getMany(['svc:dl:epoch']))[0] !== null);
      await t.get('/private', revoked.access_token).expect(401);
      await t.get('/private', live.access_token).expect(200);
    }
    await t.stop();
  });
});
