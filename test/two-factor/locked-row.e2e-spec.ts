import { setTimeout as sleep } from 'node:timers/promises';
import type { TestApp } from '../support/app';
import { type Enrolled, asConfirmed, challenge, complete, enrol, startTwoFactor } from '../support/two-factor';

describe('a change of the second factor that has to wait for the row', () => {
  let t: TestApp;
  let ada: Enrolled;

  beforeEach(async () => {
    t = await startTwoFactor({ storeTimeoutMs: 300 });
    ada = await enrol(t);
  });
  afterEach(() => t.stop());

  /** Runs `work` while someone else holds the user's row. */
  async function whileLocked(work: () => Promise<void>): Promise<void> {
    const holder = t.database.createQueryRunner();
    await holder.startTransaction();
    await holder.query('SELECT 1 FROM people WHERE id = 1 FOR UPDATE');
    try {
      await work();
    } finally {
      await holder.rollbackTransaction();
      await holder.release();
      await sleep(100);
    }
  }

  it('is 503, and does not happen behind its back', async () => {
    const challenge_token = await challenge(t);
    const answer = { challenge_token, recovery_code: ada.recoveryCodes[0] };
    await whileLocked(async () => {
      await complete(t, answer).expect(503);
      await asConfirmed(t, 'delete', '/auth/two-factor', ada.token, ada.proof).expect(503);
      await asConfirmed(t, 'post', '/auth/two-factor/recovery-codes', ada.token, ada.proof).expect(503);
    });
    expect(await t.auth.twoFactor.isEnabled('1')).toBe(true);
    expect(await t.auth.twoFactor.recoveryCodeCount('1')).toEqual({ remaining: 8, total: 8 });
    await complete(t, answer).expect(200);
  });

  it('gives its connection back with the answer', async () => {
    const challenges = await Promise.all(Array.from({ length: 25 }, () => challenge(t)));
    await whileLocked(async () => {
      const answers = challenges.map((challenge_token, i) =>
        complete(t, { challenge_token, recovery_code: ada.recoveryCodes[i % 8] }),
      );
      for (const { status } of await Promise.all(answers)) expect(status).toBe(503);
      await sleep(100);
      await t.get('/private', ada.token).expect(200);
    });
    expect(await t.auth.twoFactor.recoveryCodeCount('1')).toEqual({ remaining: 8, total: 8 });
  });
});
