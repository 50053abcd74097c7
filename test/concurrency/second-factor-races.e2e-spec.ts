import type { AuthModuleOptions } from '@svc/auth';
import { TestApp } from '../support/hosts/app';
import { RACES_MS, rounds } from '../support/runtime/rounds';
import { ADA, type Enrolled, startChallenge, codeOf, completeChallenge, enrol } from '../support/flows/two-factor';
import { describeWithRedis } from '../support/stores/with-redis';

const ROUNDS = rounds(2);
const AT_ONCE = 20;
/** The default of `lockout.maxAttempts`. */
const CAP = 100;
const GUESSES = 130;

describeWithRedis('second factors that two nodes receive at once', () => {
  let nodes: TestApp[];
  let ada: Enrolled;
  let usedCodes: Set<string>;

  const nodesWith = (options: Partial<AuthModuleOptions>): void => {
    const hashing = { memoryCost: 8, timeCost: 1, maxQueue: 10_000, maxWaitMs: 20_000 };
    const features = { twoFactor: true, ...options.features };
    // A long timeout: even on a slow machine, no request times out.
    const all = { hashing, storeTimeoutMs: 20_000, ...options, features };
    const first = TestApp.forFile({ options: all });
    const second = TestApp.forFile(() => ({ options: all, databaseUrl: first.databaseUrl }));
    beforeEach(async () => {
      nodes = [first, second];
      await first.person(ADA);
      ada = await enrol(first);
      second.clock.advance(30);
      usedCodes = new Set();
    });
  };
  const one = (): TestApp => nodes[0]!;
  /** The statuses of this many concurrent requests to both nodes. */
  const atOnce = async (bodies: object[]): Promise<number[]> =>
    Promise.all(bodies.map(async (body, i) => (await completeChallenge(nodes[i % 2]!, body)).status));
  /** The same response to this many challenges. */
  const answers = async (count: number, answer: (i: number) => object): Promise<object[]> =>
    Promise.all(
      Array.from({ length: count }, async (_, i) => ({ challenge_token: await startChallenge(one()), ...answer(i) })),
    );
  const repeated = (count: number, body: (i: number) => object): object[] =>
    Array.from({ length: count }, (_, i) => body(i));
  const won = (statuses: number[]): number => statuses.filter((status) => status === 200).length;
  const sessions = async (): Promise<number> =>
    (await one().database.query('SELECT count(*)::int AS n FROM svc_sessions'))[0].n;
  const remaining = async (): Promise<number> => (await nodes[1]!.auth.twoFactor.recoveryCodeCount('1')).remaining;
  const later = (): void => nodes.forEach(({ clock }) => clock.advance(30));
  /**
   * The code of a later step. Codes with digits that were used before are skipped: Redis refuses them for 150 seconds
   * of its own time, which are many steps of a clock that the test moves.
   */
  const nextCode = (): string => {
    later();
    while (usedCodes.has(codeOf(one(), ada.secret))) later();
    usedCodes.add(codeOf(one(), ada.secret));
    return codeOf(one(), ada.secret);
  };

  describe('without a lockout', () => {
    nodesWith({});

    it(
      'open one session for one challenge, for one code and for one recovery code',
      async () => {
        for (let round = 0; round < ROUNDS; round++) {
          if ((await remaining()) < 4) ada.recoveryCodes = await one().auth.twoFactor.replaceRecoveryCodes('1');
          const { recoveryCodes: codes } = ada;
          const [before, unusedCodes] = [await sessions(), await remaining()];

          const challenge_token = await startChallenge(one());
          const either = [{ code: nextCode() }, { recovery_code: codes[codes.length - unusedCodes]! }];
          expect(won(await atOnce(repeated(AT_ONCE, (i) => ({ challenge_token, ...either[i % 2]! }))))).toBe(1);
          const spent = unusedCodes - (await remaining());
          expect(spent).toBeLessThanOrEqual(1);

          const code = nextCode();
          expect(won(await atOnce(await answers(AT_ONCE, () => ({ code }))))).toBe(1);
          expect(unusedCodes - (await remaining())).toBe(spent);

          const recovery_code = codes[codes.length - unusedCodes + spent];
          expect(won(await atOnce(await answers(AT_ONCE, () => ({ recovery_code }))))).toBe(1);
          expect(unusedCodes - (await remaining())).toBe(spent + 1);
          expect(await sessions()).toBe(before + 3);
        }
      },
      RACES_MS,
    );

    it('consume one recovery code each if several are sent at once', async () => {
      expect(won(await atOnce(await answers(32, (i) => ({ recovery_code: ada.recoveryCodes[i % 8] }))))).toBe(8);
      expect(await remaining()).toBe(0);
    });

    it('consume one recovery code if several are sent with one challenge', async () => {
      const challenge_token = await startChallenge(one());
      const bodies = repeated(32, (i) => ({ challenge_token, recovery_code: ada.recoveryCodes[i % 8] }));
      expect(won(await atOnce(bodies))).toBe(1);
      expect(await remaining()).toBe(7);
    });
  });

  describe('with a lockout', () => {
    nodesWith({ features: { lockout: true } });

    it(
      'do not count as guesses if one correct code is sent many times with one challenge',
      async () => {
        for (let round = 0; round < rounds(2); round++) {
          const answer = { challenge_token: await startChallenge(one()), code: nextCode() };
          expect(won(await atOnce(repeated(AT_ONCE, () => answer)))).toBe(1);
        }
        const [{ attempts }] = await one().database.query(
          `SELECT coalesce(sum(attempts), 0)::int AS attempts FROM svc_lockouts WHERE purpose = 'two_factor'`,
        );
        expect(attempts).toBe(0);
      },
      RACES_MS,
    );

    it(`are verified no more often than the limit, if ${GUESSES} wrong codes are sent`, async () => {
      const right = [-1, 0, 1, 2].map((ahead) => codeOf(one(), ada.secret, ahead));
      const wrong = Array.from({ length: GUESSES + 4 }, (_, i) => String(i).padStart(6, '0')).filter(
        (code) => !right.includes(code),
      );
      const bodies = await answers(GUESSES, (i) => ({ code: wrong[i] }));
      const [last] = await answers(1, () => ({ code: nextCode() }));
      const statements = nodes.map(({ database }) => jest.spyOn(database.logger, 'logQuery'));
      const statuses = await atOnce(bodies);
      // Each verification reads the secret once.
      const reads = statements.flatMap(({ mock }) => mock.calls).filter(([text]) => text.includes('two_factor_secret'));
      expect(reads).toHaveLength(CAP);
      expect(statuses.filter((status) => status === 422)).toHaveLength(CAP);
      expect(statuses.filter((status) => status === 423)).toHaveLength(GUESSES - CAP);
      expect(won(await atOnce([last!]))).toBe(0);
    });
  });
});
