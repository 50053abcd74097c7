import { TwoFactorDisabled, TwoFactorEnabled } from '@svc/auth';
import type { TestApp } from '../support/app';
import { proofOf } from '../support/confirming';
import { PASSWORD } from '../support/people';
import { ADA, asConfirmed, challenge, codeOf, complete, enrol, secretIn, startTwoFactor } from '../support/two-factor';

describe('enrolment', () => {
  let t: TestApp;
  let token: string;
  let proof: string;

  const start = () => asConfirmed(t, 'post', '/auth/two-factor', token, proof);
  const confirm = (code?: unknown) => asConfirmed(t, 'post', '/auth/two-factor/confirm', token, proof).send({ code });
  const disable = () => asConfirmed(t, 'delete', '/auth/two-factor', token, proof);
  const columns = async () => (await t.database.query('SELECT * FROM people WHERE id = 1'))[0];

  beforeEach(async () => {
    t = await startTwoFactor({ appName: 'Acme & Söhne: Shop', twoFactor: { recoveryCodes: 3 } });
    token = (await t.session()).access_token;
    proof = await proofOf(t, token);
  });
  afterEach(() => t.stop());

  it('hands out a URI that authenticator apps read, and recovery codes', async () => {
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
    for (const code of body.recovery_codes) expect(code).toMatch(/^[A-Za-z0-9]{10}-[A-Za-z0-9]{10}$/);
    expect(new Set(body.recovery_codes).size).toBe(3);
    expect((await t.get('/auth/two-factor/recovery-codes', token)).body).toEqual({ remaining: 3, total: 3 });
  });

  it('asks for nothing at login before it is confirmed', async () => {
    await start().expect(200);
    const { body } = await t.login(ADA).expect(200);
    expect(body.access_token).toEqual(expect.any(String));
  });

  it('is confirmed by a code of the secret, and says so once', async () => {
    const enabled = t.recorded(TwoFactorEnabled);
    const secret = secretIn((await start()).body.otpauth_uri);
    await confirm(codeOf(t, secret)).expect(204);
    expect(enabled).toEqual([{ userId: '1', guard: 'api' }]);
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

  it.each([[undefined], [null], [''], ['000000'], ['12345'], ['1234567'], ['abcdef'], ['１２３４５６']])(
    'is not confirmed by %j',
    async (code) => {
      await start();
      const { body } = await confirm(code).expect(422);
      expect(body).toEqual({ message: 'The code is not correct.', errors: { code: ['The code is not correct.'] } });
      expect((await columns()).two_factor_confirmed_at).toBeNull();
    },
  );

  it.each([[123456], [['123456']], [{ code: 1 }], [true]])('takes %j for no code at all', async (code) => {
    await start();
    const { body } = await confirm(code).expect(422);
    expect(body.errors).toEqual({ code: ['The code field must be a string.'] });
  });

  it('cannot be confirmed before it was started, nor with an empty secret', async () => {
    await confirm('123456').expect(422);
    await t.database.query(`UPDATE people SET two_factor_secret = ''`);
    await confirm('123456').expect(422);
  });

  it('replaces what is pending: the former secret is none any more', async () => {
    const former = secretIn((await start()).body.otpauth_uri);
    const secret = secretIn((await start()).body.otpauth_uri);
    expect(secret).not.toBe(former);
    await confirm(codeOf(t, former)).expect(422);
    await confirm(codeOf(t, secret)).expect(204);
  });

  it('is refused once it is confirmed, and changes nothing then', async () => {
    await enrol(t);
    const before = await columns();
    const { body } = await start().expect(409);
    expect(body.errors).toEqual({ two_factor: ['Two-factor authentication is already enabled.'] });
    expect(await columns()).toEqual(before);
  });

  it('burns its code: it opens no session', async () => {
    const secret = secretIn((await start()).body.otpauth_uri);
    const code = codeOf(t, secret);
    await confirm(code).expect(204);
    const challenge_token = await challenge(t);
    await complete(t, { challenge_token, code }).expect(422);
    t.clock.advance(30);
    await complete(t, { challenge_token, code: codeOf(t, secret) }).expect(200);
  });

  it('ends with everything cleared, and the password is enough again', async () => {
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
  ] as const)('needs a step-up for %s %s', async (method, path) => {
    await enrol(t);
    const before = await columns();
    await t.http[method](path).expect(401);
    await t.call(method, path, token).expect(423);
    await asConfirmed(t, method, path, token, 'junk').expect(423);
    expect(await columns()).toEqual(before);
  });

  it('leaves no shown secret and no shown code in any table', async () => {
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

  it('is on no entity that a query returns, and so on no answer', async () => {
    await enrol(t);
    const { body } = await t.get('/private', token).expect(200);
    expect(Object.keys(body.user)).toEqual(['email', 'id']);
  });
});
