import { type Subject, describeStores } from '../support/stores';
import { randomUUID } from 'node:crypto';

const MANY = 50;
const many = <T>(run: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: MANY }, (_, i) => run(i)));

describeStores('claims', (start) => {
  let subject: Subject;
  const key = () => `claims:${randomUUID()}`;

  beforeAll(async () => void (subject = await start()));
  afterAll(() => subject.close());

  it('adds a value once, for its time, and leaves the first one alone', async () => {
    const one = key();
    expect(await subject.store.add(one, 'first', 60)).toBe(true);
    expect(await subject.store.add(one, 'second', 600)).toBe(false);
    expect(await subject.store.getMany([one])).toEqual(['first']);
    await subject.expectToLive(one, 60);
  });

  it('lets one of many at once add', async () => {
    const one = key();
    const added = await many((i) => subject.store.add(one, String(i), 60));
    expect(added.filter(Boolean)).toHaveLength(1);
    expect(await subject.store.getMany([one])).toEqual([String(added.indexOf(true))]);
  });

  it('gives a value away once', async () => {
    const one = key();
    await subject.store.setMany([one], 'ceremony', 60);
    expect((await many(() => subject.store.take(one))).filter((value) => value === 'ceremony')).toHaveLength(1);
    expect(await subject.store.getMany([one])).toEqual([null]);
    expect(await subject.store.take(one)).toBeNull();
    expect(await subject.store.add(one, 'again', 60)).toBe(true);
  });

  it('gives an empty value away like any other', async () => {
    const one = key();
    await subject.store.setMany([one], '', 60);
    expect([await subject.store.take(one), await subject.store.take(one)]).toEqual(['', null]);
  });

  it('moves a number forward only, and keeps it for the time of the last move', async () => {
    const one = key();
    expect(await subject.store.advance(one, 9, 5)).toBe(true);
    for (const to of [9, 8, 0, -1]) expect(await subject.store.advance(one, to, 600)).toBe(false);
    expect(await subject.store.advance(one, 10, 90)).toBe(true);
    expect(await subject.store.getMany([one])).toEqual(['10']);
    await subject.expectToLive(one, 90);
  });

  it('lets each step be reached once, however many try', async () => {
    const one = key();
    const moved = await many((i) => subject.store.advance(one, i % 5, 60));
    for (const step of [0, 1, 2, 3, 4]) {
      expect(moved.filter((did, i) => did && i % 5 === step).length).toBeLessThanOrEqual(1);
    }
    expect(moved[4]! || moved.some((did, i) => did && i % 5 === 4)).toBe(true);
    expect(await subject.store.getMany([one])).toEqual(['4']);
  });

  it('begins anew once the time is over', async () => {
    const one = key();
    await subject.store.advance(one, 9, 0.05);
    await subject.age(1, one);
    expect(await subject.store.advance(one, 1, 60)).toBe(true);
  });
});
