import { mostAtOnce, poolSize } from './hash-queue';

describe('the libuv thread pool', () => {
  it.each([
    [undefined, 4],
    ['', 1],
    ['8', 8],
    ['8x', 8],
    ['x', 1],
    ['0', 1],
    ['-1', 1024],
    ['5000', 1024],
  ])('with UV_THREADPOOL_SIZE=%s has %d threads', (variable, size) => expect(poolSize(variable)).toBe(size));

  it.each([
    [1, 4, 1],
    [3, 4, 3],
    [4, 4, 3],
    [64, 4, 3],
    [8, 9, 8],
    [8, 1, 1],
  ])(
    'with a concurrency of %d and %d threads runs %d hashes at once, and keeps one thread free if it has several',
    (configured, threads, most) => {
      expect(mostAtOnce(configured, threads)).toBe(most);
    },
  );
});
