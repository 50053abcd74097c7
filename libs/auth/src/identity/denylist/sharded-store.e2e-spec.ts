import { MovableClock } from '../../../../../test/support/hosts/app';
import type { AuthConfig } from '../../foundation/config/auth-config';
import { StoreUnavailable } from '../../foundation/platform/errors';
import type { Realm } from '../../foundation/realm/realm';
import { MemorySecurityStore } from '../../foundation/security-store/memory-security-store';
import { type InstanceRead, UNNAMED } from '../../foundation/security-store/security-store';
import { COMPLETE, Denylist } from './denylist';
import { DenylistMonitor, LEASE } from './denylist-monitor';
import type { EndedSessions, Timeline } from './ended-sessions';
import { StoreContinuity } from './store-continuity';

const TAGS = ['{a}', '{b}', '{c}'];

/** A store with a server for each tag, and one for the keys without a tag. A server without a name is away. */
class ShardedStore extends MemorySecurityStore {
  /** The tags whose keys move to another server. */
  readonly moving = new Set<string>();
  readonly names = new Map<string, string | null>(['', ...TAGS].map((tag) => [tag, `server ${tag}`]));
  reads = 0;

  override get slotTags(): readonly string[] {
    return TAGS;
  }

  override get instance(): string | null {
    return this.names.size === TAGS.length + 1 ? [...this.names.values()].join() : null;
  }

  override async getWithInstance(keys: readonly string[]): Promise<InstanceRead> {
    this.reads++;
    const tag = tagOf(keys[0]!);
    const isMoving = this.moving.has(tag);
    return { values: await this.getMany(keys), instance: isMoving ? null : this.names.get(tag)!, isMoving };
  }

  override async getMany(keys: readonly string[]): Promise<(string | null)[]> {
    this.require(keys);
    return super.getMany(keys);
  }

  override async setMany(keys: readonly string[], value: string, ttl: number): Promise<void> {
    this.require(keys);
    return super.setMany(keys, value, ttl);
  }

  override async add(key: string, value: string, ttl: number): Promise<boolean> {
    this.require([key]);
    return super.add(key, value, ttl);
  }

  private require(keys: readonly string[]): void {
    if (keys.some((key) => !this.names.has(tagOf(key)))) throw new StoreUnavailable('Redis');
  }
}

const tagOf = (key: string): string => TAGS.find((tag) => key.includes(tag)) ?? '';

describe('a denylist on several servers', () => {
  const config = {
    verifyOnly: true,
    storeTimeoutMs: 500,
    guards: [{ accessTtl: 900, leeway: 5 }],
  } as unknown as AuthConfig;
  let store: ShardedStore;
  let monitor: DenylistMonitor;
  let denylist: Denylist;
  let timeline: Timeline | null;

  beforeEach(() => {
    store = new ShardedStore(new MovableClock());
    timeline = null;
    const ended = {
      areOwn: true,
      timeline: async () => timeline,
      since: async () => [],
      end: async () => 0,
    };
    const continuity = new StoreContinuity(store, config);
    monitor = new DenylistMonitor(store, continuity, ended as unknown as EndedSessions, config);
    denylist = new Denylist(store, continuity, { options: { features: { denylist: true } } } as Realm, config);
  });

  /** The tags for which a service that only verifies relies on the store. */
  async function complete(): Promise<string[]> {
    const tags = new Map<string, boolean>();
    for (let i = 0; tags.size < TAGS.length; i++) {
      const tag = store.slotTag(`session ${i}`);
      const read = tags.has(tag) ? null : await denylist.read({ fid: `session ${i}` }).catch(() => null);
      if (!tags.has(tag)) tags.set(tag, read?.complete === true);
    }
    return TAGS.filter((tag) => tags.get(tag));
  }

  it('is complete for the other sessions when one server is replaced, until an issuing node has looked', async () => {
    await monitor.look();
    expect(await complete()).toEqual(TAGS);
    expect(await denylist.completeness()).toBe('all');
    store.names.set('{b}', 'promoted');
    expect(await complete()).toEqual(['{a}', '{c}']);
    expect(await denylist.completeness()).toBe('some');
    await monitor.look();
    expect(await complete()).toEqual(TAGS);
    expect(await denylist.completeness()).toBe('all');
  });

  it('is not complete for the sessions of a server that does not provide its name', async () => {
    store.names.set('{b}', UNNAMED);
    await monitor.look();
    expect(await complete()).toEqual(['{a}', '{c}']);
  });

  it('is complete for no session before an issuing node has looked, and unknown while no server answers', async () => {
    expect(await denylist.completeness()).toBe('none');
    await monitor.look();
    store.names.delete('{b}');
    expect(await denylist.completeness()).toBe('some');
    for (const tag of TAGS) store.names.delete(tag);
    await expect(denylist.completeness()).rejects.toBeInstanceOf(StoreUnavailable);
  });

  it('is not complete after a move to another server that was cancelled, until an issuing node has looked again', async () => {
    await monitor.look();
    store.moving.add('{b}');
    expect(await complete()).toEqual(['{a}', '{c}']);
    await monitor.look();
    // The former server has its name as before. It may lack the denials that it has moved.
    store.moving.delete('{b}');
    expect(await complete()).toEqual(['{a}', '{c}']);
    await monitor.look();
    expect(await complete()).toEqual(TAGS);
  });

  it('is read for each session alone, so that a server that is away refuses its own sessions only', async () => {
    const sessions = TAGS.map((tag) => {
      for (let i = 0; ; i++) if (store.slotTag(`session ${i}`) === tag) return `session ${i}`;
    });
    store.names.delete('{b}');
    const asked = await Promise.allSettled(sessions.map((id) => denylist.deniesFamily(id)));
    expect(asked.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('is repaired for the sessions of the servers that answer, and later for the others', async () => {
    store.names.delete('{b}');
    await monitor.look();
    expect(await complete()).toEqual(['{a}', '{c}']);
    store.names.set('{b}', 'back');
    await monitor.look();
    expect(await complete()).toEqual(TAGS);
  });

  it('is repaired without the lease while the server of the lease is away', async () => {
    store.names.delete('');
    await monitor.look();
    expect(await complete()).toEqual(TAGS);
    store.names.set('', 'back');
    store.names.set('{a}', 'promoted');
    await store.add(LEASE, 'another node', 60);
    await monitor.look();
    expect(await complete()).toEqual(['{b}', '{c}']);
  });

  it('is not searched for commits that PostgreSQL lost while a server is away', async () => {
    timeline = { database: 'd', timeline: '1', isStandby: false };
    const scans = jest.spyOn(store, 'scan');
    store.names.delete('{b}');
    await monitor.look();
    expect(await complete()).toEqual(['{a}', '{c}']);
    expect(scans).not.toHaveBeenCalled();
    store.names.set('{b}', 'back');
    await monitor.look();
    expect(scans).toHaveBeenCalledTimes(1);
    expect(await store.getMany(['svc:db:d'])).toEqual(['1']);
  });

  it.each<[what: string, name: string | null | undefined]>([
    ['is away', undefined],
    ['has no known name', null],
  ])('is read a fixed number of times in one look while a server %s', async (_, name) => {
    await monitor.look();
    store.reads = 0;
    await monitor.look();
    const usual = store.reads;
    for (const tag of TAGS) {
      if (name === undefined) store.names.delete(tag);
      else store.names.set(tag, name);
    }
    store.reads = 0;
    await monitor.look();
    expect(store.reads).toBe(usual);
    expect(await store.getMany([LEASE])).toEqual([null]);
  });

  it('has a mark for each tag', async () => {
    await monitor.look();
    const marks = await store.getMany(TAGS.map((tag) => COMPLETE + tag));
    expect(new Set(marks).size).toBe(TAGS.length);
    expect(marks).not.toContain(null);
  });
});
