import { readFileSync } from 'node:fs';
import { WAITS, distanceVerdict, timeoutFor } from './distance-checks';

describe('the finding about the distance of the stores', () => {
  it.each([0.2, 60, 100])('says that every request works with the default timeout at %f ms', (ms) => {
    expect(
      distanceVerdict(
        [
          ['PostgreSQL', ms],
          ['Redis', 1],
        ],
        800,
      ),
    ).toEqual({
      check: 'distance',
      status: 'ok',
      message: `PostgreSQL answers in ${ms.toFixed(1)} ms, Redis answers in 1.0 ms. With storeTimeoutMs 800, requests of every kind work.`,
    });
  });

  it('names the requests that work and those that do not, and the timeout with which all work', () => {
    const { status, message, cure } = distanceVerdict(
      [
        ['PostgreSQL', 2],
        ['Redis', 250],
      ],
      800,
    );
    expect(status).toBe('warning');
    expect(message).toContain('These requests are answered 503: registration with a provider, login, ');
    expect(message).toContain('These work: guarded routes, refresh, sign-in with a provider.');
    expect(cure).toContain('storeTimeoutMs (SVC_STORE_TIMEOUT) to 1950 or more');
    expect(
      distanceVerdict(
        [
          ['PostgreSQL', 2],
          ['Redis', 250],
        ],
        1950,
      ).status,
    ).toBe('ok');
  });

  it('is an error where no request works', () => {
    expect(distanceVerdict([['PostgreSQL', 900]], 800).status).toBe('error');
  });

  it('needs the longest wait, and a quarter of all waits, with a margin', () => {
    expect(timeoutFor({ inARow: 4, longest: 3 }, 100)).toBe(390);
    expect(timeoutFor({ inARow: 20, longest: 3 }, 100)).toBe(650);
  });

  it('counts the round trips of docs/deployment.md', () => {
    const page = readFileSync('docs/deployment.md', 'utf8');
    const rows = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
    const numberOf = (name: string): number => Number(rows.find(([, first]) => first === name)?.[3]);
    expect(WAITS.map(({ row }) => numberOf(row))).toEqual(WAITS.map(({ inARow }) => inARow));
  });
});
