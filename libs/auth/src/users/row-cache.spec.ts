import { Clock } from '../kernel/clock';
import { type Row, RowCache } from './row-cache';

class StoppedClock extends Clock {
  private time = 0;

  override now(): number {
    return this.time;
  }

  advance(seconds: number): void {
    this.time += seconds * 1000;
  }
}

describe('a user that is remembered', () => {
  let clock: StoppedClock;
  let load: jest.Mock<Promise<Row | null>, [string]>;
  const cacheOf = (most?: number): RowCache => new RowCache(clock, 5, most);

  beforeEach(() => {
    clock = new StoppedClock();
    load = jest.fn(async (id) => ({ id, tags: ['a'] }));
  });

  it('is read once within its seconds, and anew after them', async () => {
    const cache = cacheOf();
    for (const seconds of [0, 4.999, 0.001, 1]) {
      clock.advance(seconds);
      expect(await cache.read('1', load)).toEqual({ id: '1', tags: ['a'] });
    }
    expect(load).toHaveBeenCalledTimes(2);
  });

  it('is handed out as a copy, so that nobody changes what another one is given', async () => {
    const cache = cacheOf();
    for (let i = 0; i < 3; i++) {
      const row = await cache.read('1', load);
      expect(row!.tags).toEqual(['a']);
      (row!.tags as string[]).push('admin');
    }
  });

  it('is asked for every time where there is none', async () => {
    const cache = cacheOf();
    load.mockResolvedValue(null);
    await cache.read('1', load);
    load.mockResolvedValue({ id: '1' });
    expect(await cache.read('1', load)).toEqual({ id: '1' });
  });

  it('is asked for anew after a failure', async () => {
    const cache = cacheOf();
    load.mockRejectedValueOnce(new Error('down'));
    await expect(cache.read('1', load)).rejects.toThrow('down');
    expect(await cache.read('1', load)).not.toBeNull();
  });

  it('is dropped, and no other', async () => {
    const cache = cacheOf();
    for (const id of ['1', '2']) await cache.read(id, load);
    cache.drop('1');
    for (const id of ['1', '2']) await cache.read(id, load);
    expect(load.mock.calls.flat()).toEqual(['1', '2', '1']);
  });

  it('is not kept where it was dropped while it was read', async () => {
    const cache = cacheOf();
    let answer!: (row: Row) => void;
    load.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
    const reading = cache.read('1', load);
    cache.drop('1');
    answer({ id: '1', role: 'old' });
    expect(await reading).toEqual({ id: '1', role: 'old' });
    load.mockResolvedValueOnce({ id: '1', role: 'new' });
    expect(await cache.read('1', load)).toEqual({ id: '1', role: 'new' });
  });

  it('gives way to newer ones: no more are kept than may be', async () => {
    const cache = cacheOf(2);
    for (const id of ['1', '2', '3', '2', '3', '1']) await cache.read(id, load);
    expect(load.mock.calls.flat()).toEqual(['1', '2', '3', '1']);
  });
});
