import * as fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type SessionState,
  type RefreshVerdict,
  type RepetitionTimes,
  crossesForkThreshold,
  endOfSession,
  endsSession,
  idleTimeoutOf,
  recentChange,
  refreshVerdict,
} from './rotation.policy';
import { GRACE, ROTATION_TABLE, stateAt, timesOf } from './rotation.testkit';

const NOW = 1_000_000;
const graceOf = (graceSeconds: number): RepetitionTimes => ({ graceSeconds, unusedSuccessorSeconds: 0 });
const fresh: SessionState = {
  generation: 0,
  recent: [],
  lateGeneration: null,
  expiresAt: NOW + 1,
  lastUsedAt: NOW,
  idleTimeout: null,
  revokedAt: null,
  now: NOW,
};

describe('a presented refresh token', () => {
  it.each(ROTATION_TABLE.map((row) => [row.name, row.verdict, row] as const))(
    'that is %s has the verdict %s',
    (_, verdict, row) => {
      expect(refreshVerdict(stateAt(NOW, row), row.presented, timesOf(row))).toBe(verdict);
    },
  );

  it('is tested with every verdict: the table above has all, and a missing session is unknown', () => {
    const all: RefreshVerdict[] = ['current', 'replay', 'late', 'ahead', 'revoked', 'expired', 'idle', 'reuse'];
    expect([...new Set(ROTATION_TABLE.map(({ verdict }) => verdict))].toSorted()).toEqual(all.toSorted());
    for (const generation of [0, 1, 2 ** 32 - 1])
      expect(refreshVerdict(null, generation, graceOf(GRACE))).toBe('unknown');
  });

  it('has the verdicts of the diagram in docs/sessions.md, and no others', () => {
    const page = readFileSync(join(__dirname, '../../../../../docs/sessions.md'), 'utf8');
    const [, diagram] = /```mermaid\n([^]*?)```/.exec(page)!;
    const edges = [...diagram!.matchAll(/^ *(\w+) --> (\w+) : (\w+)$/gm)].map(([, ...edge]) => edge.join(' '));
    const ofTable = ROTATION_TABLE.map((row) => {
      const { revokedAt, now, ...session } = stateAt(NOW, row);
      const end = endOfSession(session);
      const from = revokedAt !== null ? 'revoked' : end.at < now ? end.reason : 'live';
      // A refused refresh of a session that is over, and a reuse, end it for good.
      const isLive = ['current', 'replay', 'late', 'ahead'].includes(row.verdict);
      return `${from} ${isLive ? 'live' : 'revoked'} ${row.verdict}`;
    });
    const verdicts = new Set<string>(ROTATION_TABLE.map(({ verdict }) => verdict));
    const ofDiagram = edges.filter((edge) => verdicts.has(edge.split(' ')[2]!));
    expect(ofDiagram.toSorted()).toEqual([...new Set(ofTable)].toSorted());
  });

  const boundaries: [string, Partial<SessionState>, number, number, RefreshVerdict][] = [
    ['is accepted at the deadline of its session', { expiresAt: NOW }, 0, GRACE, 'current'],
    ['is refused just after the deadline of its session', { expiresAt: NOW - 0.001 }, 0, GRACE, 'expired'],
    ['is accepted at the end of the idle time', { lastUsedAt: NOW - 60, idleTimeout: 60 }, 0, GRACE, 'current'],
    ['is refused just after the idle time', { lastUsedAt: NOW - 60.001, idleTimeout: 60 }, 0, GRACE, 'idle'],
    [
      'is refused as expired if both times end together',
      { lastUsedAt: NOW - 61, idleTimeout: 60, expiresAt: NOW - 1 },
      0,
      GRACE,
      'expired',
    ],
    ['is accepted at the end of the grace period', { generation: 1, recent: [NOW - GRACE] }, 0, GRACE, 'replay'],
    ['is refused just after the grace period', { generation: 1, recent: [NOW - GRACE - 0.001] }, 0, GRACE, 'reuse'],
    [
      'is refused immediately after its rotation with a grace period of 0',
      { generation: 1, recent: [NOW] },
      0,
      0,
      'reuse',
    ],
    ['is refused for a session that ended at the epoch', { revokedAt: 0 }, 0, GRACE, 'revoked'],
    ['is refused after a rotation at the epoch', { generation: 1, recent: [0] }, 0, GRACE, 'reuse'],
  ];
  it.each(boundaries)('%s', (_, facts, presented, grace, verdict) => {
    expect(refreshVerdict({ ...fresh, ...facts }, presented, graceOf(grace))).toBe(verdict);
  });
});

describe('a session with late repetitions', () => {
  const [ACCESS_TTL, times] = [900, { graceSeconds: GRACE, unusedSuccessorSeconds: 300 }];
  const started = { ...fresh, expiresAt: Infinity };
  const seconds = (min: number, max: number) => fc.integer({ min, max });

  /** The state of a session after a token was presented, as the statements of the store change it. */
  function presented(session: SessionState, generation: number, after: number) {
    const at = { ...session, now: session.now + after };
    const verdict = refreshVerdict(at, generation, times);
    if (verdict === 'current') {
      const { dropped } = recentChange(at, generation, GRACE);
      const recent = [...at.recent.slice(dropped), at.now];
      return { verdict, session: { ...at, generation: generation + 1, recent } };
    }
    return { verdict, session: verdict === 'late' ? { ...at, recent: [at.now], lateGeneration: at.generation } : at };
  }

  it('is not ended by a client that loses no two answers in a row, and comes back in time', () => {
    const refresh = fc.record({ after: seconds(1, ACCESS_TTL), isLost: fc.boolean(), later: seconds(1, 300) });
    fc.assert(
      fc.property(fc.array(refresh, { maxLength: 60 }), (refreshes) => {
        let [session, held, wasLost]: [SessionState, number, boolean] = [started, 0, false];
        const verdicts: RefreshVerdict[] = [];
        const present = (after: number) => {
          const { verdict, session: next } = presented(session, held, after);
          verdicts.push(verdict);
          session = next;
        };
        for (const { after, isLost, later } of refreshes) {
          present(after);
          wasLost = isLost && !wasLost;
          if (wasLost) present(later);
          held = session.generation;
        }
        expect(verdicts.filter((verdict) => !['current', 'replay', 'late'].includes(verdict))).toEqual([]);
      }),
    );
  });

  it('is ended at the second late repetition in a row: a thief and the owner cannot take turns', () => {
    // Both refresh after the grace period: within it, each replay is counted by the fork event.
    const turn = fc.record({ isThief: fc.boolean(), after: seconds(GRACE + 1, ACCESS_TTL) });
    fc.assert(
      fc.property(fc.array(turn, { minLength: 12, maxLength: 60 }), (turns) => {
        let [session, held, changes, last]: [SessionState, Record<string, number>, number, string] = [
          started,
          {},
          0,
          '',
        ];
        const late: number[] = [];
        for (const { isThief, after } of turns) {
          const who = isThief ? 'thief' : 'owner';
          if (who !== last) changes++;
          last = who;
          const { verdict, session: next } = presented(session, held[who] ?? 0, after);
          if (verdict === 'reuse') break;
          session = next;
          if (verdict === 'late') late.push(session.generation);
          held[who] = session.generation;
        }
        // Of two holders, the third change of turns at the latest ends the session.
        expect(changes).toBeLessThanOrEqual(4);
        expect(late.filter((generation, n) => n > 0 && generation - late[n - 1]! < 2)).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('the idle time of a session', () => {
  it.each<[option: number, own: number | null, result: number | null]>([
    [0, null, null],
    [1800, null, 1800],
    [0, 600, 600],
    [1800, 600, 600],
    [1800, 3600, 1800],
  ])('with the option %j and its own %j is %j', (option, own, result) => {
    expect(idleTimeoutOf(option, own)).toBe(result);
  });

  it('never delays its end, and a use never brings it forward', () => {
    const time = fc.integer({ min: 0, max: 10_000 });
    fc.assert(
      fc.property(time, time, time, fc.option(time), (expiresAt, lastUsedAt, later, idleTimeout) => {
        const { at } = endOfSession({ expiresAt, lastUsedAt, idleTimeout });
        expect(at).toBeLessThanOrEqual(expiresAt);
        const used = endOfSession({ expiresAt, lastUsedAt: lastUsedAt + later, idleTimeout });
        expect(used.at).toBeGreaterThanOrEqual(at);
        const lower = idleTimeout === null ? 10_000 : Math.floor(idleTimeout / 2);
        const lowered = endOfSession({ expiresAt, lastUsedAt, idleTimeout: lower });
        expect(lowered.at).toBeLessThanOrEqual(at);
      }),
    );
  });
});

describe('the list of recent rotations', () => {
  const rotated = (session: SessionState, generation: number, grace: number): SessionState => {
    const { dropped, added } = recentChange(session, generation, grace);
    const recent = [...session.recent.slice(dropped), ...Array.from({ length: added }, () => session.now)];
    return { ...session, generation: generation + 1, recent };
  };
  const changes: [string, Partial<SessionState>, number, number, { dropped: number; added: number }][] = [
    ['gets the time of the first rotation', {}, 0, GRACE, { dropped: 0, added: 1 }],
    [
      'keeps rotations within the grace period, including the boundary',
      { recent: [NOW - GRACE, NOW] },
      0,
      GRACE,
      { dropped: 0, added: 1 },
    ],
    ['drops older rotations', { recent: [NOW - 99, NOW - GRACE - 1, NOW - 2] }, 0, GRACE, { dropped: 2, added: 1 }],
    ['drops all rotations if all are older', { recent: [NOW - 99, NOW - 98] }, 0, GRACE, { dropped: 2, added: 1 }],
    ['has at most 64 rotations', { recent: Array.from({ length: 64 }, () => NOW) }, 0, GRACE, { dropped: 1, added: 1 }],
    ['gets an entry for each lost rotation', { generation: 3, recent: [NOW - 1] }, 9, GRACE, { dropped: 0, added: 7 }],
    [
      'has at most 64 rotations after the loss of more',
      { generation: 3, recent: [NOW, NOW] },
      5000,
      GRACE,
      { dropped: 2, added: 64 },
    ],
  ];
  it.each(changes)('%s', (_, facts, generation, grace, change) => {
    const session = { ...fresh, ...facts };
    expect(recentChange({ ...session, generation: facts.generation ?? generation }, generation, grace)).toEqual(change);
  });

  /** A rotation after `after` seconds, with a loss of the last `lost` commits before it. */
  const event = fc.oneof(
    { weight: 5, arbitrary: fc.record({ after: fc.integer({ min: 0, max: 25 }), lost: fc.constant(0) }) },
    {
      weight: 1,
      arbitrary: fc.record({ after: fc.integer({ min: 0, max: 25 }), lost: fc.integer({ min: 1, max: 9 }) }),
    },
  );

  it('leads to the same decisions as the complete history', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 90 }), fc.integer({ min: 0, max: 20 }), (events, grace) => {
        let session: SessionState = { ...fresh, expiresAt: Infinity };
        const stored = [session];
        // The time when each token was replaced, according to the commits that are not lost.
        const replacedAt: number[] = [];
        for (const { after, lost } of events) {
          const newest = session.generation;
          const now = session.now + after;
          const kept = stored.splice(0, Math.max(1, stored.length - lost)).at(-1)!;
          expect(refreshVerdict({ ...kept, now }, newest, graceOf(grace))).toBe(
            kept.generation < newest ? 'ahead' : 'current',
          );
          replacedAt.length = kept.generation;
          while (replacedAt.length <= newest) replacedAt.push(now);
          stored.splice(0, Infinity, kept);
          session = rotated({ ...kept, now }, newest, grace);
          stored.push(session);

          expect(session.recent.length).toBeLessThanOrEqual(64);
          for (const [generation, time] of replacedAt.entries()) {
            const isAccepted = grace > 0 && time + grace >= now && session.generation - generation <= 64;
            expect([generation, refreshVerdict(session, generation, graceOf(grace))]).toEqual([
              generation,
              isAccepted ? 'replay' : 'reuse',
            ]);
          }
          expect(refreshVerdict(session, session.generation, graceOf(grace))).toBe('current');
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('a verdict', () => {
  it.each<[RefreshVerdict, boolean]>([
    ['current', false],
    ['replay', false],
    ['ahead', false],
    ['unknown', false],
    ['expired', false],
    ['idle', false],
    ['revoked', false],
    ['reuse', true],
  ])('of "%s" ends the session: %s; never without reuse detection', (verdict, ends) => {
    expect(endsSession(verdict, true)).toBe(ends);
    expect(endsSession(verdict, false)).toBe(false);
  });
});

describe('the holders of a refresh token', () => {
  it.each([2, 3, 100])('cross the threshold of %d once', (threshold) => {
    const holders = Array.from({ length: 2 * threshold }, (_, i) => i + 1);
    expect(holders.filter((count) => crossesForkThreshold(count, threshold))).toEqual([threshold + 1]);
  });
});
