import { randomUUID } from 'node:crypto';
import { eventually } from '../../../../../test/support/runtime/eventually';
import type { SecurityStore } from './security-store';
import type { TestedStore } from './stores.testkit';

/** Returns the keys of all pages of a scan, without duplicates. */
export async function allOf(pages: AsyncIterable<string[]>): Promise<string[]> {
  const found = new Set<string>();
  for await (const page of pages) for (const key of page) found.add(key);
  return [...found];
}

/** The behaviour that every security store must have. */
export function contract(start: () => Promise<TestedStore>): void {
  let tested: TestedStore;
  let store: SecurityStore;
  const prefix = `contract:${randomUUID()}`;
  let n = 0;
  const key = () => `${prefix}:${n++}`;

  beforeAll(async () => {
    tested = await start();
    ({ store } = tested);
  });
  afterAll(() => tested.close());

  it('returns the values in the order of the keys, and null for an absent key', async () => {
    const [a, b, absent] = [key(), key(), key()];
    await store.setMany([a], 'first', 60);
    await store.setMany([b], 'second', 60);
    expect(await store.getMany([b, absent, a])).toEqual(['second', null, 'first']);
    expect(await store.getMany([a, b])).toEqual(['first', 'second']);
    expect(await store.getMany([a, a])).toEqual(['first', 'first']);
    expect(await store.getMany([absent])).toEqual([null]);
  });

  it('writes one value under every key', async () => {
    const keys = Array.from({ length: 500 }, key);
    await store.setMany(keys, 'revoked', 60);
    expect(await store.getMany(keys)).toEqual(keys.map(() => 'revoked'));
    await tested.expectToLive(keys[499]!, 60);
  });

  it.each([['true'], [''], ['0'], ['null'], ['{"a":1}'], ['ключ 🔑\n\0']])(
    'stores %j unchanged, as key and as value',
    async (value) => {
      const unusual = `${key()} ${value}`;
      await store.setMany([unusual], value, 60);
      expect(await store.getMany([unusual])).toEqual([value]);
    },
  );

  it.each([[1], [60], [2_592_000], [0.75]])('keeps a key for %d seconds', async (seconds) => {
    const one = key();
    await store.setMany([one], 'x', seconds);
    await tested.expectToLive(one, seconds);
  });

  it('replaces the value and the time to live of an existing key', async () => {
    const one = key();
    await store.setMany([one], 'old', 5);
    await store.setMany([one], 'new', 600);
    expect(await store.getMany([one])).toEqual(['new']);
    await tested.expectToLive(one, 600);
  });

  it('reads its own writes after many concurrent writes', async () => {
    const keys = Array.from({ length: 50 }, key);
    await Promise.all(keys.map((one, i) => store.setMany([one], String(i), 60)));
    expect(await store.getMany(keys)).toEqual(keys.map((_, i) => String(i)));
  });

  it('accepts a write without keys', async () => {
    await expect(store.setMany([], 'x', 60)).resolves.not.toThrow();
  });

  it('finds all keys with a literal prefix, and no others', async () => {
    const globs = `${key()}:a*[b-c]?\\{d}^`;
    const keys = Array.from({ length: 5000 }, (_, i) => `${globs}:${i}`);
    const others = [globs.replace('*', 'x'), globs.replace('[b-c]', 'b'), globs.replace('?', 'x'), globs.slice(0, -1)];
    await store.setMany(keys, 'x', 60);
    await store.setMany(others, 'x', 60);
    expect((await allOf(store.scan(globs))).toSorted()).toEqual(keys.toSorted());
    expect(await allOf(store.scan(`${globs}:none`))).toEqual([]);
  });

  it('provides the name of the server, also after a repeated query', async () => {
    await eventually(async () => store.instance !== null);
    const { instance } = store;
    await store.identify();
    await store.getMany([key()]);
    expect(store.instance).toBe(instance);
  });
}

const MANY = 50;
const many = <T>(run: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: MANY }, (_, i) => run(i)));

/** The writes that must be atomic. */
export function atomicWrites(start: () => Promise<TestedStore>): void {
  let tested: TestedStore;
  const key = () => `claims:${randomUUID()}`;

  beforeAll(async () => void (tested = await start()));
  afterAll(() => tested.close());

  it('add a value once with its time to live, and keep the first value', async () => {
    const one = key();
    expect(await tested.store.add(one, 'first', 60)).toBe(true);
    expect(await tested.store.add(one, 'second', 600)).toBe(false);
    expect(await tested.store.getMany([one])).toEqual(['first']);
    await tested.expectToLive(one, 60);
  });

  it('add the value of one of many concurrent calls', async () => {
    const one = key();
    const added = await many((i) => tested.store.add(one, String(i), 60));
    expect(added.filter(Boolean)).toHaveLength(1);
    expect(await tested.store.getMany([one])).toEqual([String(added.indexOf(true))]);
  });

  it('take a value once', async () => {
    const one = key();
    await tested.store.setMany([one], 'ceremony', 60);
    expect((await many(() => tested.store.take(one))).filter((value) => value === 'ceremony')).toHaveLength(1);
    expect(await tested.store.getMany([one])).toEqual([null]);
    expect(await tested.store.take(one)).toBeNull();
    expect(await tested.store.add(one, 'again', 60)).toBe(true);
  });

  it('take an empty value like any other value', async () => {
    const one = key();
    await tested.store.setMany([one], '', 60);
    expect([await tested.store.take(one), await tested.store.take(one)]).toEqual(['', null]);
  });

  it('only increase a number, and apply the time to live of the last increase', async () => {
    const one = key();
    expect(await tested.store.advance(one, 9, 5)).toBe(true);
    for (const to of [9, 8, 0, -1]) expect(await tested.store.advance(one, to, 600)).toBe(false);
    expect(await tested.store.advance(one, 10, 90)).toBe(true);
    expect(await tested.store.getMany([one])).toEqual(['10']);
    await tested.expectToLive(one, 90);
  });

  it('reach each number at most once with many concurrent calls', async () => {
    const one = key();
    const moved = await many((i) => tested.store.advance(one, i % 5, 60));
    for (const step of [0, 1, 2, 3, 4]) {
      expect(moved.filter((did, i) => did && i % 5 === step).length).toBeLessThanOrEqual(1);
    }
    expect(moved[4]! || moved.some((did, i) => did && i % 5 === 4)).toBe(true);
    expect(await tested.store.getMany([one])).toEqual(['4']);
  });

  it('accept a smaller number after the time to live', async () => {
    const one = key();
    await tested.store.advance(one, 9, 0.05);
    await tested.age(1, one);
    expect(await tested.store.advance(one, 1, 60)).toBe(true);
  });
}
