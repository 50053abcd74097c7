import * as fc from 'fast-check';
import { type PresentedToken, type Verdict, endsSession, isHonoured, judge } from './rotation.policy';

const NOW = 1_000_000;
const GRACE = 30;
const fresh: PresentedToken = { rotatedAt: null, expiresAt: NOW + 1, revokedAt: null, now: NOW };

describe('a presented refresh token', () => {
  const cases: [string, Partial<PresentedToken>, number, Verdict][] = [
    ['is honoured the first time', {}, GRACE, 'first'],
    ['is honoured at its very deadline', { expiresAt: NOW }, GRACE, 'first'],
    ['is expired just after its deadline', { expiresAt: NOW - 0.001 }, GRACE, 'expired'],
    ['is revoked with its session', { revokedAt: NOW - 5 }, GRACE, 'revoked'],
    ['is revoked even where the revocation lies ahead', { revokedAt: NOW + 5 }, GRACE, 'revoked'],
    ['is revoked where that is recorded as the epoch', { revokedAt: 0 }, GRACE, 'revoked'],
    ['gets a sibling at once', { rotatedAt: NOW }, GRACE, 'sibling'],
    ['gets a sibling exactly at the end of the grace', { rotatedAt: NOW - GRACE }, GRACE, 'sibling'],
    ['is reused just after the grace', { rotatedAt: NOW - GRACE - 0.001 }, GRACE, 'reuse'],
    ['gets a sibling although its exchange lies ahead', { rotatedAt: NOW + 5 }, GRACE, 'sibling'],
    ['is reused where its exchange is recorded as the epoch', { rotatedAt: 0 }, GRACE, 'reuse'],
    ['is honoured the first time without grace', {}, 0, 'first'],
    ['is reused in the same instant without grace', { rotatedAt: NOW }, 0, 'reuse'],
    ['is reused without grace though its exchange lies ahead', { rotatedAt: NOW + 5 }, 0, 'reuse'],
    ['is expired and accuses nobody, exchanged or not', { expiresAt: NOW - 1, rotatedAt: NOW - 99 }, GRACE, 'expired'],
    ['is expired even within the grace', { expiresAt: NOW - 1, rotatedAt: NOW - 2 }, GRACE, 'expired'],
    ['is revoked before it is expired', { expiresAt: NOW - 1, revokedAt: NOW - 9 }, GRACE, 'revoked'],
    ['is revoked before it is reused', { rotatedAt: NOW - 99, revokedAt: NOW - 9 }, GRACE, 'revoked'],
    ['is revoked even within the grace', { rotatedAt: NOW - 1, revokedAt: NOW - 1 }, GRACE, 'revoked'],
  ];

  it.each(cases)('%s', (_, facts, grace, verdict) => {
    expect(judge({ ...fresh, ...facts }, grace)).toBe(verdict);
  });

  it('is unknown where there is no row', () => {
    expect(judge(null, GRACE)).toBe('unknown');
    expect(judge(null, 0)).toBe('unknown');
  });

  it('is judged as a second reading of the rules judges it', () => {
    const time = fc.integer({ min: 0, max: 40 });
    const token = fc.option(
      fc.record({ rotatedAt: fc.option(time), expiresAt: time, revokedAt: fc.option(time), now: time }),
    );
    fc.assert(
      fc.property(token, fc.integer({ min: 0, max: 20 }), (row, grace) => {
        expect(judge(row, grace)).toBe(secondReading(row, grace));
      }),
      { numRuns: 2000 },
    );
  });
});

/** The rules of rotation said once more, each verdict by all that must hold for it. */
function secondReading(row: PresentedToken | null, grace: number): Verdict {
  if (row === null) return 'unknown';
  const revoked = row.revokedAt !== null;
  const expired = row.now > row.expiresAt;
  const rotated = row.rotatedAt !== null;
  const tolerated = rotated && grace !== 0 && row.now - row.rotatedAt! <= grace;
  const verdicts: [Verdict, boolean][] = [
    ['revoked', revoked],
    ['expired', !revoked && expired],
    ['first', !revoked && !expired && !rotated],
    ['sibling', !revoked && !expired && tolerated],
    ['reuse', !revoked && !expired && rotated && !tolerated],
  ];
  const [only, ...others] = verdicts.filter(([, holds]) => holds);
  expect(others).toEqual([]);
  return only![0];
}

describe('a verdict', () => {
  it.each<[Verdict, boolean, boolean, boolean]>([
    ['first', true, false, false],
    ['sibling', true, false, false],
    ['unknown', false, false, false],
    ['expired', false, false, false],
    ['revoked', false, true, true],
    ['reuse', false, true, false],
  ])('of "%s" honours: %s, ends the session: %s, without reuse detection: %s', (verdict, honours, ends, without) => {
    expect(isHonoured(verdict)).toBe(honours);
    expect(endsSession(verdict, true)).toBe(ends);
    expect(endsSession(verdict, false)).toBe(without);
  });
});
