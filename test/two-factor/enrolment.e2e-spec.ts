import { PasswordHasher, SecurityStore, TwoFactorDisabled, TwoFactorEnabled } from '@svc/auth';
import { confirmationTokenOf } from '../support/flows/step-up';
import type { TestApp } from '../support/hosts/app';
import { eventually } from '../support/runtime/eventually';
import { PASSWORD } from '../support/hosts/user-entities';
import {
  ADA,
  type Enrolled,
  asConfirmed,
  startChallenge,
  codeOf,
  completeChallenge,
  enrol,
  secretIn,
  twoFactorForFile,
} from '../support/flows/two-factor';

/** Starts an enrolment of ada in another session. */
async function startElsewhere(t: TestApp) {
  const { access_token } = await t.session();
  return asConfirmed(t, 'post', '/auth/two-factor', access_token, await confirmationTokenOf(t, access_token));
}

describe('enrolment', () => {
  const t = twoFactorForFile({ appName: 'Acme & Söhne: Shop', twoFactor: { recoveryCodes: 3 } });
  let token: string;
  let proof: string;

  const start = () => asConfirmed(t, 'post', '/auth/two-factor', token, proof);
  const confirm = (code?: unknown) => asConfirmed(t, 'post', '/auth/two-factor/confirm', token, proof).send({ code });
  const disable = () => asConfirmed(t, 'delete', '/auth/two-factor', token, proof);
  const columns = async () => (await t.database.query('SELECT * FROM people WHERE id = 1'))[0];

  beforeEach(async () => {
    token = (await t.session()).access_token;
    proof = await confirmationTokenOf(t, token);
  });

  it('returns a URI for authenticator apps, and recovery codes', async () => {
    const { body, headers } = await start().expect(200);
    expect(body).toEqual({ otpauth_uri: expect.any(String), recovery_codes: expect.any(Array) });
    expect(headers['cache-control']).toBe('no-store, private');
    const issuer = 'Acme%20%26%20S%C3%B6hne%20Shop';
    expect(body.otpauth_uri).toMatch(
      new RegExp(
        `^otpauth://totp/${issuer}:ada%40example.com\\?secret=[A-Z2-7]{32}&issuer=${issuer}&algorithm=SHA1&digits=6&period=30$`,
      ),
    );
    expect(body.recovery_codes).toHaveLength(3);
    for (const code of body.recovery_codes) {
      // Crockford's base32: 120 bits.
      expect(code).toMatch(/^(?:[0-9A-HJKMNP-TV-Z]{6}-){3}[0-9A-HJKMNP-TV-Z]{6}$/);
    }
    expect(new Set(body.recovery_codes).size).toBe(3);
    expect((await t.get('/auth/two-factor/recovery-codes', token)).body).toEqual({ remaining: 3, total: 3 });
  });

  it('is not required at login before it is confirmed', async () => {
    await start().expect(200);
    const { body } = await t.login(ADA).expect(200);
    expect(body.access_token).toEqual(expect.any(String));
  });

  it('is confirmed by a code of the secret, and emits one event', async () => {
    const enabled = t.recorded(TwoFactorEnabled);
    const secret = secretIn((await start()).body.otpauth_uri);
    await confirm(codeOf(t, secret)).expect(204);
    expect(enabled).toEqual([{ userId: '1', guard: 'api', imported: false }]);
    const { body, headers } = await t.login(ADA).expect(200);
    expect(body).toEqual({
      two_factor: true,
      challenge_token: expect.any(String),
      methods: ['totp', 'recovery_code'],
    });
    expect(headers['cache-control']).toBe('no-store, private');
    expect(headers['set-cookie']).toBeUndefined();
    t.clock.advance(30);
    await confirm(codeOf(t, secret)).expect(204);
    expect(enabled).toHaveLength(1);
  });

  it('is not confirmed by a session that ends while the code is used', async () => {
    const enabled = t.recorded(TwoFactorEnabled);
    const secret = secretIn((await start()).body.otpauth_uri);
    const store = t.app.get(SecurityStore);
    const advance = store.advance.bind(store);
    jest.spyOn(store, 'advance').mockImplementation(async (...args) => {
      await t.auth.revokeAll('1');
      return advance(...args);
    });
    await confirm(codeOf(t, secret)).expect(401);
    expect((await columns()).two_factor_confirmed_at).toBeNull();
    expect(enabled).toEqual([]);
  });

  it.each([[undefined], [null], [''], ['000000'], ['12345'], ['1234567'], ['abcdef']])(
    'is not confirmed by %j',
    async (code) => {
      await start();
      const { body } = await confirm(code).expect(422);
      expect(body).toEqual({ message: 'The code is not correct.', errors: { code: ['The code is not correct.'] } });
      expect((await columns()).two_factor_confirmed_at).toBeNull();
    },
  );

  it.each([[123456], [['123456']], [{ code: 1 }], [true]])('refuses %j as a missing code', async (code) => {
    await start();
    const { body } = await confirm(code).expect(422);
    expect(body.errors).toEqual({ code: ['The code field must be a string.'] });
  });

  it('cannot be confirmed before it was started, or with an empty secret', async () => {
    await confirm('123456').expect(422);
    await t.database.query(`UPDATE people SET two_factor_secret = ''`);
    await confirm('123456').expect(422);
  });

  it('that one session starts again is the same: its secret and its recovery codes', async () => {
    const { body: first } = await start().expect(200);
    const before = await columns();
    const starts = await Promise.all([start(), start()]);
    expect(starts.map(({ body }) => body)).toEqual([first, first]);
    expect(await columns()).toEqual(before);
    await confirm(codeOf(t, secretIn(first.otpauth_uri))).expect(204);
    const challenge_token = await startChallenge(t);
    await completeChallenge(t, { challenge_token, recovery_code: first.recovery_codes[0] }).expect(200);
  });

  it('that one session starts twice at once is one enrolment', async () => {
    const bodies = (await Promise.all([start(), start(), start()])).map(({ body }) => body);
    expect(bodies).toEqual(bodies.map(() => bodies[0]));
    await confirm(codeOf(t, secretIn(bodies[0].otpauth_uri))).expect(204);
  });

  it('replaces a pending enrolment of another session, which is not shown, and invalidates its secret', async () => {
    const former = (await start().expect(200)).body;
    const next = (await startElsewhere(t)).body;
    expect(secretIn(next.otpauth_uri)).not.toBe(secretIn(former.otpauth_uri));
    expect(next.recovery_codes).not.toEqual(former.recovery_codes);
    await confirm(codeOf(t, secretIn(former.otpauth_uri))).expect(422);
    await confirm(codeOf(t, secretIn(next.otpauth_uri))).expect(204);
  });

  it('replaces a pending enrolment that the session started ten minutes ago', async () => {
    const secretAfter = async (seconds: number): Promise<string> => {
      t.clock.advance(seconds);
      proof = await confirmationTokenOf(t, token);
      return secretIn((await start().expect(200)).body.otpauth_uri);
    };
    const first = await secretAfter(0);
    expect(await secretAfter(590)).toBe(first);
    expect(await secretAfter(15)).not.toBe(first);
  });

  it('keeps no recovery code that can be read after its confirmation', async () => {
    const { body } = await start().expect(200);
    const { length: pending } = String((await columns()).two_factor_secret);
    await confirm(codeOf(t, secretIn(body.otpauth_uri))).expect(204);
    const { length: enabled } = String((await columns()).two_factor_secret);
    expect([pending > 200, enabled < 120]).toEqual([true, true]);
  });

  it('is refused when one is confirmed, and changes nothing', async () => {
    await enrol(t);
    const before = await columns();
    const { body } = await start().expect(409);
    expect(body.errors).toEqual({ two_factor: ['Two-factor authentication is already enabled.'] });
    expect(await columns()).toEqual(before);
  });

  it('uses up its code, which opens no session', async () => {
    const secret = secretIn((await start()).body.otpauth_uri);
    const code = codeOf(t, secret);
    await confirm(code).expect(204);
    const challenge_token = await startChallenge(t);
    await completeChallenge(t, { challenge_token, code }).expect(422);
    t.clock.advance(30);
    await completeChallenge(t, { challenge_token, code: codeOf(t, secret) }).expect(200);
  });

  it('can be disabled, which clears its data and allows the password alone', async () => {
    const disabled = t.recorded(TwoFactorDisabled);
    await enrol(t);
    await disable().expect(204);
    expect(await columns()).toMatchObject({
      two_factor_secret: null,
      two_factor_recovery_codes: null,
      two_factor_confirmed_at: null,
    });
    expect((await t.login(ADA).expect(200)).body.access_token).toEqual(expect.any(String));
    await disable().expect(204);
    expect(disabled).toEqual([{ userId: '1', guard: 'api' }]);
    await enrol(t);
  });

  it.each([
    ['post', '/auth/two-factor'],
    ['post', '/auth/two-factor/confirm'],
    ['delete', '/auth/two-factor'],
    ['post', '/auth/two-factor/recovery-codes'],
  ] as const)('requires a step-up for %s %s', async (method, path) => {
    await enrol(t);
    const before = await columns();
    await t.http[method](path).expect(401);
    await t.call(method, path, token).expect(423);
    await asConfirmed(t, method, path, token, 'junk').expect(423);
    expect(await columns()).toEqual(before);
  });

  it('stores neither the shown secret nor a shown code in any table', async () => {
    const { secret, recoveryCodes } = await enrol(t);
    const tables: { name: string }[] = await t.database.query(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
    );
    const rows = await Promise.all(
      tables.map(({ name }) => t.database.query(`SELECT to_jsonb(t)::text AS row FROM "${name}" t`)),
    );
    const stored = rows
      .flat()
      .map(({ row }) => String(row))
      .join('\n');
    expect(stored).toContain(ADA);
    for (const shown of [secret, ...recoveryCodes, ...recoveryCodes.flatMap((code) => code.split('-')), PASSWORD]) {
      const forms = [
        shown,
        ...(['base64', 'base64url', 'hex'] as const).map((form) => Buffer.from(shown).toString(form)),
      ];
      for (const form of forms) expect(stored.toLowerCase()).not.toContain(form.replace(/=+$/, '').toLowerCase());
    }
    const { two_factor_secret: encrypted } = await columns();
    const bytes = Buffer.from(String(encrypted).split('.')[2]!, 'base64url');
    expect(bytes.toString('latin1')).not.toContain(secret);
  });

  it('is not a property of a loaded entity, so that no answer contains it', async () => {
    await enrol(t);
    const { body } = await t.get('/private', token).expect(200);
    expect(Object.keys(body.user)).toEqual(['email', 'id']);
  });
});

describe('with the default options', () => {
  const t = twoFactorForFile();

  describe('a change of the second factor during another change', () => {
    let token: string;
    let proof: string;

    const start = () => asConfirmed(t, 'post', '/auth/two-factor', token, proof);
    const confirm = (code: string) => asConfirmed(t, 'post', '/auth/two-factor/confirm', token, proof).send({ code });
    const columns = async () => (await t.database.query('SELECT * FROM people WHERE id = 1'))[0];

    /** Runs `meanwhile` while the next set of recovery codes is hashed. */
    const whileMakingCodes = (meanwhile: () => PromiseLike<unknown>): void => {
      const hasher = t.app.get(PasswordHasher);
      const hash = hasher.hash.bind(hasher);
      jest.spyOn(hasher, 'hash').mockImplementationOnce(async (code) => {
        await meanwhile();
        return hash(code);
      });
    };

    beforeEach(async () => {
      token = (await t.session()).access_token;
      proof = await confirmationTokenOf(t, token);
    });

    it('answers 409 and keeps an enrolment that was confirmed meanwhile', async () => {
      const secret = secretIn((await start()).body.otpauth_uri);
      whileMakingCodes(() => confirm(codeOf(t, secret)).expect(204));
      expect((await startElsewhere(t)).status).toBe(409);
      t.clock.advance(30);
      await completeChallenge(t, { challenge_token: await startChallenge(t), code: codeOf(t, secret) }).expect(200);
    });

    it('does not confirm a secret that replaced the verified one', async () => {
      const secret = secretIn((await start()).body.otpauth_uri);
      const store = t.app.get(SecurityStore);
      const advance = store.advance.bind(store);
      // At this point the code is verified but not yet marked as used.
      const used = jest.spyOn(store, 'advance').mockImplementationOnce(async (...step) => {
        await startElsewhere(t);
        return advance(...step);
      });
      await confirm(codeOf(t, secret)).expect(422);
      expect(used).toHaveBeenCalledTimes(1);
      expect((await columns()).two_factor_confirmed_at).toBeNull();
    });

    it('answers 409 and returns no recovery codes when it was disabled meanwhile', async () => {
      await enrol(t);
      whileMakingCodes(() => t.auth.twoFactor.disable('1'));
      await asConfirmed(t, 'post', '/auth/two-factor/recovery-codes', token, proof).expect(409);
      expect(await columns()).toMatchObject({ two_factor_secret: null, two_factor_recovery_codes: null });
    });

    it('answers 409 when its user was deleted meanwhile', async () => {
      whileMakingCodes(() => t.database.query('DELETE FROM people WHERE id = 1'));
      await start().expect(409);
    });

    it('keeps the date of the first confirmation', async () => {
      const { secret } = await enrol(t);
      const { two_factor_confirmed_at: first } = await columns();
      t.clock.advance(60);
      await confirm(codeOf(t, secret)).expect(204);
      expect((await columns()).two_factor_confirmed_at).toEqual(first);
    });

    it('can delete a pending enrolment', async () => {
      await start().expect(200);
      await asConfirmed(t, 'delete', '/auth/two-factor', token, proof).expect(204);
      expect(await columns()).toMatchObject({ two_factor_secret: null, two_factor_recovery_codes: null });
    });

    it('opens no session with a pending factor on an earlier challenge', async () => {
      await enrol(t);
      const challenge_token = await startChallenge(t);
      await t.auth.twoFactor.disable('1');
      const { body } = await start().expect(200);
      await completeChallenge(t, { challenge_token, code: codeOf(t, secretIn(body.otpauth_uri)) }).expect(422);
      await completeChallenge(t, { challenge_token, recovery_code: body.recovery_codes[0] }).expect(422);
    });

    it.each([['01'], [' 1'], ['abc'], ['1\0'], ['99999999999'], ['7']])('finds no user by the id %j', async (id) => {
      await enrol(t);
      expect(await t.auth.twoFactor.isEnabled(id)).toBe(false);
      await t.auth.twoFactor.disable(id);
      expect((await t.login(ADA).expect(200)).body.two_factor).toBe(true);
    });
  });

  describe('a change of the second factor that waits for a row lock', () => {
    let ada: Enrolled;
    beforeEach(async () => void (ada = await enrol(t)));

    const isAtRest = async (): Promise<boolean> => {
      const others = `SELECT 1 FROM pg_stat_activity
                     WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()`;
      return (await t.database.query(others)).length === 0;
    };

    /** Runs `work` while another transaction locks the row of the user. */
    async function whileLocked(work: () => Promise<void>): Promise<void> {
      const holder = t.database.createQueryRunner();
      await holder.startTransaction();
      await holder.query('SELECT 1 FROM people WHERE id = 1 FOR UPDATE');
      try {
        await work();
      } finally {
        await holder.rollbackTransaction();
        await holder.release();
        await eventually(isAtRest);
      }
    }

    it('answers 503, and is not completed later', async () => {
      const challenge_token = await startChallenge(t);
      const answer = { challenge_token, recovery_code: ada.recoveryCodes[0] };
      await whileLocked(async () => {
        await Promise.all([
          completeChallenge(t, answer).expect(503),
          asConfirmed(t, 'delete', '/auth/two-factor', ada.token, ada.proof).expect(503),
          asConfirmed(t, 'post', '/auth/two-factor/recovery-codes', ada.token, ada.proof).expect(503),
        ]);
      });
      expect(await t.auth.twoFactor.isEnabled('1')).toBe(true);
      expect(await t.auth.twoFactor.recoveryCodeCount('1')).toEqual({ remaining: 8, total: 8 });
      await completeChallenge(t, answer).expect(200);
    });

    it('releases its connection with the answer', async () => {
      const challenges = await Promise.all(Array.from({ length: 25 }, () => startChallenge(t)));
      await whileLocked(async () => {
        const answers = challenges.map((challenge_token, i) =>
          completeChallenge(t, { challenge_token, recovery_code: ada.recoveryCodes[i % 8] }),
        );
        for (const { status } of await Promise.all(answers)) expect(status).toBe(503);
        await eventually(async () => (await t.get('/private', ada.token)).status === 200);
      });
      expect(await t.auth.twoFactor.recoveryCodeCount('1')).toEqual({ remaining: 8, total: 8 });
    });
  });
});
