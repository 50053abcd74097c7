import * as fc from 'fast-check';
import type { TestApp } from '../support/hosts/app';
import { rounds } from '../support/runtime/rounds';
import {
  startChallenge,
  codeAt,
  completeChallenge,
  secretIn,
  startTwoFactor,
  currentStep,
} from '../support/flows/two-factor';

const WINDOW = 1;
const TOTAL = 3;

type Move =
  | { do: 'enrol' | 'disable' | 'replace' }
  | { do: 'confirm' | 'code'; ahead: number; former: boolean }
  | { do: 'recovery'; which: number }
  | { wait: number };

/** A reference model of the second factor. */
class Model {
  state: 'none' | 'pending' | 'enabled' = 'none';
  secret = '';
  former = '';
  codes: string[] = [];
  private lastStep = -1;

  enrolled(secret: string, codes: string[]): void {
    [this.former, this.secret, this.codes, this.state, this.lastStep] = [this.secret, secret, codes, 'pending', -1];
  }

  /** The refusal of a code, or null for an accepted one, which is used then. */
  refusalOf(step: number, now: number, former: boolean): string | null {
    if (this.state === 'none' || former || Math.abs(step - now) > WINDOW) return 'wrong_code';
    if (step <= this.lastStep) return 'used_code';
    this.lastStep = step;
    return null;
  }
}

const ahead = fc.integer({ min: -2, max: 2 });
const former = fc.integer({ min: 0, max: 4 }).map((n) => n === 0);
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('enrol' as const, 'replace' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('disable' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('confirm' as const), ahead, former }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('code' as const), ahead, former }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('recovery' as const), which: fc.nat(TOTAL) }) },
  { weight: 3, arbitrary: fc.record({ wait: fc.constantFrom(30, 60, 90) }) },
);

describe('any sequence of enrolments, logins and waits', () => {
  let t: TestApp;
  let email: string;
  let id: string;
  let model: Model;
  let people = 0;

  /** The error code that server code gets, or null for a success. */
  const outcome = (work: Promise<unknown>): Promise<string | null> =>
    work.then(
      () => null,
      ({ code }: { code: string }) => code,
    );
  const login = async (answer: object): Promise<number> => {
    const challenge_token = await startChallenge(t, email);
    return challenge_token === undefined ? 0 : (await completeChallenge(t, { challenge_token, ...answer })).status;
  };

  const moves = {
    enrol: async () => {
      const user = { id: Number(id), email };
      const given = await t.auth.twoFactor.enrol(user).catch(({ code }: { code: string }) => code);
      if (typeof given === 'string') return expect([given, model.state]).toEqual(['already_enrolled', 'enabled']);
      expect(model.state).not.toBe('enabled');
      model.enrolled(secretIn(given.otpauthUri), given.recoveryCodes);
    },
    disable: async () => {
      await t.auth.twoFactor.disable(id);
      model.state = 'none';
    },
    replace: async () => {
      const codes = await t.auth.twoFactor.replaceRecoveryCodes(id).catch(({ code }: { code: string }) => code);
      if (typeof codes === 'string') return expect(model.state).not.toBe('enabled');
      expect(model.state).toBe('enabled');
      model.codes = codes;
    },
    confirm: async (attempt: { ahead: number; former: boolean }) => {
      const step = currentStep(t) + attempt.ahead;
      const code = codeAt((attempt.former ? model.former : model.secret) || 'A'.repeat(32), step);
      const refusal = model.refusalOf(step, currentStep(t), attempt.former);
      expect(await outcome(t.auth.twoFactor.confirm(id, code))).toBe(refusal);
      if (refusal === null) model.state = 'enabled';
    },
    code: async (attempt: { ahead: number; former: boolean }) => {
      const step = currentStep(t) + attempt.ahead;
      const code = codeAt((attempt.former ? model.former : model.secret) || 'A'.repeat(32), step);
      const status = await login({ code });
      if (model.state !== 'enabled') return expect(status).toBe(0);
      expect(status).toBe(model.refusalOf(step, currentStep(t), attempt.former) === null ? 200 : 422);
    },
    recovery: async ({ which }: { which: number }) => {
      const code = model.codes[which] ?? 'AAAAAAAAAA-AAAAAAAAAA';
      const status = await login({ recovery_code: code });
      if (model.state !== 'enabled') return expect(status).toBe(0);
      expect(status).toBe(model.codes.includes(code) ? 200 : 422);
      model.codes = model.codes.filter((stored) => stored !== code);
    },
  };

  beforeAll(async () => {
    t = await startTwoFactor({ twoFactor: { window: WINDOW, recoveryCodes: TOTAL } });
    // So that no step of 30 seconds begins between the model and the server.
    t.clock.stop();
  });
  afterAll(() => t.stop());

  it('gives the results of the reference model', async () => {
    const property = fc.asyncProperty(fc.array(move, { minLength: 8, maxLength: 40 }), async (sequence) => {
      email = `ada-${people++}@example.com`;
      id = await t.person(email);
      model = new Model();
      for (const next of [{ do: 'enrol' } as const, ...sequence]) {
        if ('wait' in next) t.clock.advance(next.wait);
        else await moves[next.do](next as never);
        const { remaining } = await t.auth.twoFactor.recoveryCodeCount(id);
        expect(remaining).toBe(model.state === 'none' ? 0 : model.codes.length);
      }
    });
    await fc.assert(property, { numRuns: rounds(6) });
  });
});
