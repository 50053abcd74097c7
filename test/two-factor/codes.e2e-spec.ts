import { PasswordHasher, RecoveryCodesReplaced, SecurityStore, TwoFactorUnusable } from '@svc/auth';
import { TestApp } from '../support/hosts/app';
import { HealthModule, UP, healthOf } from '../support/views/health';
import { ENCRYPTION_KEY } from '../support/hosts/host.module';
import { SecurityLines } from '../support/views/security-lines';
import {
  ADA,
  type Enrolled,
  asConfirmed,
  startChallenge,
  codeAt,
  codeOf,
  completeChallenge,
  enrol,
  enrolledForFile,
  startTwoFactor,
  twoFactorForFile,
  currentStep,
} from '../support/flows/two-factor';

const NEW_KEY = 'a-new-key-of-encryption-at-rest-0123456789';

const answer = async (t: TestApp, code: string) =>
  completeChallenge(t, { challenge_token: await startChallenge(t), code });

const recovery = async (t: TestApp, { recoveryCodes }: Enrolled) =>
  completeChallenge(t, { challenge_token: await startChallenge(t), recovery_code: recoveryCodes[0] });

/** Stops the clock of a host at a time after the code that enrolment used. */
const stopLater = (t: TestApp): void =>
  beforeEach(() => {
    t.clock.stop();
    t.clock.advance(600);
  });

/** The steps, relative to the current one, whose codes are accepted and refused. */
function acceptsCodes({ t, ada }: { t: TestApp; ada: Enrolled }, good: number[], bad: number[]): void {
  it(`is accepted for the steps ${good.join()}, and refused for ${bad.join()}`, async () => {
    for (const ahead of bad) expect((await answer(t, codeOf(t, ada.secret, ahead))).status).toBe(422);
    for (const ahead of good) expect((await answer(t, codeOf(t, ada.secret, ahead))).status).toBe(200);
  });
}

describe('a code with a window of 0', () => {
  const t = twoFactorForFile({ twoFactor: { window: 0 } });
  const ada = {} as Enrolled;
  beforeEach(async () => {
    // Before the enrolment: a code of the last moments of its step would be too late.
    t.clock.stop();
    Object.assign(ada, await enrol(t));
    t.clock.advance(600);
  });
  acceptsCodes({ t, ada }, [0], [-2, -1, 1, 2]);
});

describe('with the default window', () => {
  const { t, ada } = enrolledForFile({ twoFactor: { window: undefined } });

  describe('a code', () => {
    stopLater(t);
    acceptsCodes({ t, ada }, [-1, 0, 1], [-3, -2, 2, 3]);

    it('is refused when its step is not later than that of the last code', async () => {
      const step = currentStep(t);
      expect((await answer(t, codeAt(ada.secret, step + 1))).status).toBe(200);
      for (const earlier of [step + 1, step, step - 1]) {
        expect((await answer(t, codeAt(ada.secret, earlier))).status).toBe(422);
      }
      t.clock.advance(30);
      expect((await answer(t, codeAt(ada.secret, step + 2))).status).toBe(200);
    });

    it('is accepted once', async () => {
      const code = codeOf(t, ada.secret);
      expect((await answer(t, code)).status).toBe(200);
      expect((await answer(t, code)).status).toBe(422);
      t.clock.advance(30);
      expect((await answer(t, code)).status).toBe(422);
    });

    it('with leading zeros is a text, and not a number', async () => {
      while (!codeOf(t, ada.secret).startsWith('0')) t.clock.advance(30);
      const code = codeOf(t, ada.secret);
      const challenge_token = await startChallenge(t);
      await completeChallenge(t, { challenge_token, code: String(Number(code)) }).expect(422);
      await completeChallenge(t, { challenge_token, code: Number(code) }).expect(422);
      await completeChallenge(t, { challenge_token, code }).expect(200);
    });

    it('of a former secret is refused', async () => {
      const former = codeOf(t, ada.secret);
      await asConfirmed(t, 'delete', '/auth/two-factor', ada.token, ada.proof).expect(423);
      const { body } = await completeChallenge(t, { challenge_token: await startChallenge(t), code: former }).expect(
        200,
      );
      await t.call('post', '/auth/logout', body.access_token).expect(204);
      await t.auth.twoFactor.disable('1');
      Object.assign(ada, await enrol(t));
      expect((await answer(t, former)).status).toBe(422);
      expect((await answer(t, codeOf(t, ada.secret))).status).toBe(200);
    });
  });

  describe('recovery codes', () => {
    const count = () => t.get('/auth/two-factor/recovery-codes', ada.token);
    const replace = () => asConfirmed(t, 'post', '/auth/two-factor/recovery-codes', ada.token, ada.proof);

    it('are counted in an answer that must not be cached', async () => {
      const { body, headers } = await count().expect(200);
      expect(body).toEqual({ remaining: 8, total: 8 });
      expect(headers['cache-control']).toBe('no-store, private');
    });

    it.each([['not json'], ['{}'], ['[1,2]'], ['null'], ['"text"'], ['[["x"]]'], ['']])(
      'count as none when the column contains %j',
      async (column) => {
        await t.database.query('UPDATE people SET two_factor_recovery_codes = $1', [column]);
        expect((await count().expect(200)).body).toEqual({ remaining: 0, total: 8 });
        const recovery_code = ada.recoveryCodes[0];
        await completeChallenge(t, { challenge_token: await startChallenge(t), recovery_code }).expect(422);
        await completeChallenge(t, { challenge_token: await startChallenge(t), code: codeOf(t, ada.secret) }).expect(
          200,
        );
      },
    );

    it('are replaced as a set, which invalidates the former codes', async () => {
      const { body, headers } = await replace().expect(200);
      expect(headers['cache-control']).toBe('no-store, private');
      expect(body.recovery_codes).toHaveLength(8);
      await completeChallenge(t, {
        challenge_token: await startChallenge(t),
        recovery_code: ada.recoveryCodes[0],
      }).expect(422);
      await completeChallenge(t, {
        challenge_token: await startChallenge(t),
        recovery_code: body.recovery_codes[0],
      }).expect(200);
    });

    it('are not replaced by a session that ends while their hashes wait', async () => {
      const hasher = t.app.get(PasswordHasher);
      const hash = hasher.hash.bind(hasher);
      jest.spyOn(hasher, 'hash').mockImplementationOnce(async (code) => {
        await t.auth.revokeAll('1');
        return hash(code);
      });
      const replaced = t.recorded(RecoveryCodesReplaced);
      expect((await replace().expect(401)).body).not.toHaveProperty('recovery_codes');
      expect((await recovery(t, ada)).status).toBe(200);
      expect(replaced).toEqual([]);
    });

    it('that are replaced are reported once for each set, without the codes', async () => {
      const replaced = t.recorded(RecoveryCodesReplaced);
      const answers = await Promise.all(Array.from({ length: 5 }, () => replace()));
      const sets = answers.filter(({ status }) => status === 200);
      expect(replaced).toEqual(sets.map(() => ({ userId: '1', guard: 'api' })));
      await t.auth.twoFactor.disable('1');
      await replace().expect(409);
      await enrol(t);
      expect(replaced).toHaveLength(sets.length);
    });

    it('are refused to a user without an enabled second factor', async () => {
      await t.auth.twoFactor.disable('1');
      const { body } = await replace().expect(409);
      expect(body.errors).toEqual({ two_factor: ['Two-factor authentication is not enabled.'] });
      await asConfirmed(t, 'post', '/auth/two-factor', ada.token, ada.proof).expect(200);
      await replace().expect(409);
    });

    it('each open one session, until none is left', async () => {
      for (const recovery_code of ada.recoveryCodes) {
        await completeChallenge(t, { challenge_token: await startChallenge(t), recovery_code }).expect(200);
      }
      expect((await count()).body).toEqual({ remaining: 0, total: 8 });
      const { body } = await t.login(ADA).expect(200);
      expect(body.methods).toEqual(['totp']);
    });
  });

  describe('a secret at rest', () => {
    it.each([
      ['empty', ''],
      ['plain', 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'],
      ['not a ciphertext of the library', 'v1.00000000.AAAA'],
    ])('that is %s accepts no code', async (_, secret) => {
      await t.database.query('UPDATE people SET two_factor_secret = $1', [secret]);
      for (const code of ['', '000000', codeOf(t, 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ')]) {
        expect((await answer(t, code)).status).toBe(422);
      }
      expect((await recovery(t, ada)).status).toBe(200);
    });

    it('is bound to its user, and accepts no code in another row', async () => {
      await t.person('mallory@example.com');
      await t.database.query(
        `UPDATE people m SET two_factor_secret = a.two_factor_secret, two_factor_confirmed_at = now()
         FROM people a WHERE a.id = 1 AND m.id = 2`,
      );
      t.clock.advance(90);
      const challenge_token = await startChallenge(t, 'mallory@example.com');
      await completeChallenge(t, { challenge_token, code: codeOf(t, ada.secret) }).expect(422);
    });
  });

  describe('a secret at rest, after a change of the key', () => {
    let next: TestApp;

    /** Starts a host with other keys on the same database. */
    const withKeys = (encryption: { key: string; previousKeys?: string[] }): void => {
      beforeAll(async () => {
        const options = { features: { twoFactor: true }, encryption };
        next = await TestApp.start({ options, databaseUrl: t.databaseUrl });
      });
      beforeEach(() => {
        next.clock.reset();
        next.clock.advance(90);
      });
      afterAll(() => next.stop());
    };

    describe('with the former key in previousKeys', () => {
      withKeys({ key: NEW_KEY, previousKeys: [ENCRYPTION_KEY] });

      it('can be read', async () => {
        expect((await answer(next, codeOf(next, ada.secret))).status).toBe(200);
      });
    });

    describe('without the former key', () => {
      withKeys({ key: NEW_KEY });

      it('allows recovery codes only, as the login reports', async () => {
        expect((await next.login(ADA).expect(200)).body.methods).toEqual(['recovery_code']);
        const { status, body } = await answer(next, codeOf(next, ada.secret));
        expect({ status, body }).toEqual({
          status: 422,
          body: { message: 'The code is not correct.', errors: { code: ['The code is not correct.'] } },
        });
        expect((await recovery(next, ada)).status).toBe(200);
      });

      it('does not allow the password alone, even without recovery codes', async () => {
        await next.database.query(`UPDATE people SET two_factor_recovery_codes = '[]'`);
        const { body } = await next.login(ADA).expect(200);
        expect(body).toEqual({ two_factor: true, challenge_token: expect.any(String), methods: [] });
      });

      it('cannot be confirmed, and can be replaced by a new enrolment', async () => {
        await next.database.query('UPDATE people SET two_factor_confirmed_at = NULL');
        await expect(next.auth.twoFactor.confirm('1', codeOf(next, ada.secret))).rejects.toMatchObject({
          code: 'wrong_code',
        });
        await enrol(next);
      });
    });
  });
});

describe('a code that was used', () => {
  let t: TestApp;
  let behind: TestApp;

  afterEach(async () => {
    await behind.stop();
    await t.stop();
  });

  it.each([0, 1])('stays used on a node whose clock is behind, with a window of %d', async (window) => {
    t = await startTwoFactor({ twoFactor: { window } });
    behind = await TestApp.start({
      options: { features: { twoFactor: true }, twoFactor: { window } },
      databaseUrl: t.databaseUrl,
    });
    for (const { clock } of [t, behind]) clock.stop();
    const ada = await enrol(t);
    t.clock.advance(600);
    behind.clock.advance(600 + 30 - 20);
    const code = codeOf(t, ada.secret, window);
    const store = t.app.get(SecurityStore);
    const storeCalls = [jest.spyOn(store, 'add'), jest.spyOn(store, 'advance')];
    await completeChallenge(t, { challenge_token: await startChallenge(t), code }).expect(200);
    const seconds = storeCalls.flatMap(({ mock }) =>
      mock.calls.filter(([key]) => key.includes('svc:2fa')).map((call) => call[2]),
    );
    // The validity of the code on the node that is ahead, plus the difference of the clocks.
    expect(seconds).toHaveLength(2);
    for (const ttl of seconds) expect(ttl).toBeGreaterThanOrEqual((2 * window + 1) * 30 + 60);
    await completeChallenge(behind, { challenge_token: await startChallenge(behind), code }).expect(422);
  });
});

describe('a confirmed second factor', () => {
  const log = new SecurityLines();
  const { t, ada } = enrolledForFile(log.options, { imports: [HealthModule] });

  const losses: [string, string, string[]][] = [
    ['has no secret', 'two_factor_secret = NULL', ['recovery_code']],
    ['has an empty secret', "two_factor_secret = ''", ['recovery_code']],
    ['has a secret that cannot be decrypted', "two_factor_secret = 'v1.x.y'", ['recovery_code']],
    ['has neither a secret nor recovery codes', 'two_factor_secret = NULL, two_factor_recovery_codes = NULL', []],
  ];

  it.each(losses)('that %s is required, and no code passes it', async (_, columns, methods) => {
    await t.database.query(`UPDATE people SET ${columns}`);
    const { body } = await t.login(ADA).expect(200);
    expect(body).toEqual({ two_factor: true, challenge_token: expect.any(String), methods });
    const { challenge_token } = body;
    for (const code of [codeOf(t, ada.secret), '000000', ''])
      await completeChallenge(t, { challenge_token, code }).expect(422, /"code":\[/);
    const recovered = await completeChallenge(t, { challenge_token, recovery_code: ada.recoveryCodes[0] });
    expect(recovered.status).toBe(methods.length > 0 ? 200 : 422);
    expect(await t.auth.twoFactor.isEnabled('1')).toBe(true);
  });

  it('without a secret is not replaced by an enrolment, and can be disabled', async () => {
    await t.database.query('UPDATE people SET two_factor_secret = NULL');
    await asConfirmed(t, 'post', '/auth/two-factor', ada.token, ada.proof).expect(409);
    await asConfirmed(t, 'post', '/auth/two-factor/confirm', ada.token, ada.proof)
      .send({ code: codeOf(t, ada.secret) })
      .expect(422);
    const { body } = await asConfirmed(t, 'post', '/auth/two-factor/recovery-codes', ada.token, ada.proof).expect(200);
    const recovery_code = body.recovery_codes[0];
    await completeChallenge(t, { challenge_token: await startChallenge(t), recovery_code }).expect(200);
    await asConfirmed(t, 'delete', '/auth/two-factor', ada.token, ada.proof).expect(204);
    expect((await t.login(ADA).expect(200)).body).toHaveProperty('access_token');
  });

  it('without a secret is reported by an event, the security log and the health check, until it is replaced', async () => {
    const events = t.recorded(TwoFactorUnusable);
    const health = async (): Promise<unknown> => {
      const { status, details } = await healthOf(t);
      const { auth_second_factors, ...others } = details;
      expect({ status, others }).toEqual({ status: 200, others: UP });
      return auth_second_factors;
    };
    expect(await log.during(() => t.login(ADA))).not.toContainEqual(
      expect.objectContaining({ event: 'auth.two_factor.unusable' }),
    );
    expect(await health()).toEqual({ status: 'up' });
    await t.database.query('UPDATE people SET two_factor_secret = NULL');
    const lines = await log.during(() => t.login(ADA).expect(200));
    expect(lines).toContainEqual({ event: 'auth.two_factor.unusable', guard: 'api', user_id: '1' });
    expect(events).toEqual([{ userId: '1', guard: 'api' }]);
    expect(await health()).toEqual({ status: 'up', warning: 'unusable' });
    await t.auth.twoFactor.disable('1');
    expect(await health()).toEqual({ status: 'up' });
  });

  it('that a login finds usable again is not reported any more', async () => {
    const [{ secret }] = await t.database.query('SELECT two_factor_secret AS secret FROM people WHERE id = 1');
    await t.database.query('UPDATE people SET two_factor_secret = NULL');
    await t.login(ADA).expect(200);
    await t.database.query('UPDATE people SET two_factor_secret = $1', [secret]);
    expect((await healthOf(t)).details).toMatchObject({ auth_second_factors: { warning: 'unusable' } });
    await t.login(ADA).expect(200);
    expect((await healthOf(t)).details).toMatchObject({ auth_second_factors: { status: 'up' } });
    expect((await healthOf(t)).details.auth_second_factors).not.toHaveProperty('warning');
  });
});
