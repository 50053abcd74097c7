import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import {
  Auth,
  type ImportedFactor,
  PasswordHasher,
  RecoveryCodeUsed,
  TwoFactorEnabled,
  ValidationFailed,
  bcryptVerifier,
  pbkdf2Verifier,
  scryptVerifier,
} from '@svc/auth';
import { hashSync } from 'bcryptjs';
import { createHash, pbkdf2Sync, scryptSync } from 'node:crypto';
import { TestApp } from '../support/hosts/app';
import {
  ADA,
  asConfirmed,
  codeAt,
  codeOf,
  completeChallenge,
  currentStep,
  enrol,
  fromBase32,
  secretIn,
  startChallenge,
  twoFactorForFile,
} from '../support/flows/two-factor';
import { confirmationTokenOf } from '../support/flows/step-up';

const BITS_80 = 'GEZDGNBVGY3TQOJQ';
const BITS_160 = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const BITS_512 = `${BITS_160.repeat(3)}GEZDGNA`;

const b64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
const bcrypt = (code: string): string => hashSync(code, 4);
const pbkdf2 = (code: string): string =>
  `pbkdf2_sha256$1000$salt$${pbkdf2Sync(code, 'salt', 1000, 32, 'sha256').toString('base64')}`;
const scrypt = (code: string): string =>
  `$scrypt$ln=4,r=8,p=1$${b64(Buffer.from('salt'))}$${b64(scryptSync(code, 'salt', 32, { N: 16, r: 8, p: 1 }))}`;

const verifiers = [bcryptVerifier({ rounds: 4 }), pbkdf2Verifier({ iterations: 1000 }), scryptVerifier({ ln: 4 })];
const OPTIONS = { features: { twoFactor: true }, hashing: { memoryCost: 64, timeCost: 1, verifiers } };

/** The host's own route for operators. */
@Controller('imports')
class Imports {
  constructor(private readonly auth: Auth) {}

  @Post(':userId')
  @HttpCode(200)
  async import(@Param('userId') userId: string, @Body() factor: ImportedFactor) {
    return { stored: await this.auth.twoFactor.importFactor(userId, factor) };
  }
}

const t = twoFactorForFile(OPTIONS, { controllers: [Imports] });

const columns = async (id = 1) => (await t.database.query('SELECT * FROM people WHERE id = $1', [id]))[0];
const load = (factor: ImportedFactor, options?: { replace?: boolean }) =>
  t.auth.twoFactor.importFactor(1, factor, options);
const challenge = async (email = ADA) => (await t.login(email).expect(200)).body;
const answer = async (field: object) => completeChallenge(t, { challenge_token: await startChallenge(t), ...field });
const recover = async (recovery_code: string) => (await answer({ recovery_code })).status;

describe('an imported TOTP secret', () => {
  it.each<[string, string, ImportedFactor]>([
    ['80 bits', BITS_80, { secret: BITS_80 }],
    ['160 bits', BITS_160, { secret: BITS_160 }],
    ['512 bits', BITS_512, { secret: BITS_512 }],
    ['lower case, in groups', BITS_80, { secret: 'gezd gnbv gy3t qojq' }],
    ['a URI', BITS_80, { secret: `otpauth://totp/Acme:ada?secret=${BITS_80}&algorithm=SHA1&digits=6&period=30` }],
    ['bytes', BITS_160, { secret: fromBase32(BITS_160), algorithm: 'HmacSHA1', digits: 6, period: 30 }],
  ])('of %s is listed by the login, and its codes open sessions', async (_, secret, factor) => {
    expect(await load(factor)).toBe(true);
    const { methods, challenge_token } = await challenge();
    expect(methods).toEqual(['totp']);
    await completeChallenge(t, { challenge_token, code: codeAt(secret, currentStep(t) + 5) }).expect(422);
    const code = codeOf(t, secret);
    await completeChallenge(t, { challenge_token, code }).expect(200);
    expect((await answer({ code })).status).toBe(422);
    t.clock.advance(30);
    expect((await answer({ code: codeOf(t, secret) })).status).toBe(200);
  });

  it('is encrypted and bound to its user, and emits one event', async () => {
    const enabled = t.recorded(TwoFactorEnabled);
    await load({ secret: BITS_80, confirmedAt: new Date('2020-02-02T00:00:00Z') });
    expect(enabled).toEqual([{ userId: '1', guard: 'api', imported: true }]);
    const row = await columns();
    expect(row.two_factor_secret).toMatch(/^v1\.[0-9a-f]{8}\./);
    expect(JSON.stringify(row)).not.toContain(BITS_80);
    expect(row.two_factor_confirmed_at).toEqual(new Date('2020-02-02T00:00:00Z'));
    await t.person('eve@example.com');
    await t.database.query('UPDATE people SET two_factor_secret = $1, two_factor_confirmed_at = now() WHERE id = 2', [
      row.two_factor_secret,
    ]);
    expect((await challenge('eve@example.com')).methods).toEqual([]);
  });

  it('can be disabled, and enrolled again, like any other', async () => {
    await load({ secret: BITS_80 });
    await t.auth.twoFactor.disable('1');
    expect((await challenge()).access_token).toEqual(expect.any(String));
    await enrol(t);
  });

  it('is imported at another guard as well', async () => {
    await t.person('root@example.com', 'admin');
    await t.auth.guard('admin').twoFactor.importFactor('1', { secret: BITS_80 });
    expect((await t.login('root@example.com', undefined, 'admin').expect(200)).body.methods).toEqual(['totp']);
    expect((await challenge()).access_token).toEqual(expect.any(String));
  });
});

describe('a second factor that cannot be used', () => {
  const SECRET = 'The secret must be base32 of 10 to 64 bytes, for SHA-1, six digits and 30 seconds.';
  const HASH = 'This hash is not of a kind that can be verified.';
  const sha256 = createHash('sha256').update('abcde-12345').digest('hex');

  it.each<[string, object, string, string]>([
    ['a secret of 72 bits', { secret: 'GEZDGNBVGY3TQOI' }, 'secret', SECRET],
    ['a secret of 520 bits', { secret: 'A'.repeat(104) }, 'secret', SECRET],
    ['a secret that is not base32', { secret: 'GEZDGNBVGY3TQO10' }, 'secret', SECRET],
    ['base32 of an impossible length', { secret: `${BITS_80}G` }, 'secret', SECRET],
    ['base32 with bits after its last byte', { secret: `${BITS_80}GF` }, 'secret', SECRET],
    ['a secret that is a number', { secret: 7 }, 'secret', SECRET],
    ['no secret', {}, 'secret', SECRET],
    ['a URI of a counter', { secret: `otpauth://hotp/a?secret=${BITS_160}&counter=0` }, 'secret', SECRET],
    ['a URI with eight digits', { secret: `otpauth://totp/a?secret=${BITS_160}&digits=8` }, 'secret', SECRET],
    ['eight digits', { secret: BITS_160, digits: 8 }, 'secret', SECRET],
    ['SHA-256', { secret: BITS_160, algorithm: 'SHA256' }, 'secret', SECRET],
    ['60 seconds', { secret: BITS_160, period: 60 }, 'secret', SECRET],
    [
      'a SHA-256',
      { secret: BITS_160, recoveryCodeHashes: [bcrypt('abcde-12345'), sha256] },
      'recovery_code_hashes.1',
      HASH,
    ],
    ['a plain code', { secret: BITS_160, recoveryCodeHashes: ['abcde-12345'] }, 'recovery_code_hashes.0', HASH],
    ['a hash that is a number', { secret: BITS_160, recoveryCodeHashes: [1] }, 'recovery_code_hashes.0', HASH],
    [
      'a hash of too high a cost',
      { secret: BITS_160, recoveryCodeHashes: [bcrypt('abcde-12345').replace('$04$', '$31$')] },
      'recovery_code_hashes.0',
      HASH,
    ],
    [
      'no list of hashes',
      { secret: BITS_160, recoveryCodeHashes: 'abc' },
      'recovery_code_hashes',
      'The recovery code hashes field is invalid.',
    ],
    [
      '101 hashes',
      { secret: BITS_160, recoveryCodeHashes: Array.from({ length: 101 }, () => 'x') },
      'recovery_code_hashes',
      'The recovery code hashes field is invalid.',
    ],
    [
      'a time that is a text',
      { secret: BITS_160, confirmedAt: 'soon' },
      'confirmed_at',
      'The confirmed at field is invalid.',
    ],
  ])('for %s is refused with 422, and changes nothing', async (_, factor, field, message) => {
    const enabled = t.recorded(TwoFactorEnabled);
    const before = await columns();
    const { body } = await t.http.post('/imports/1').send(factor).expect(422);
    expect(body).toEqual({ message, errors: { [field]: [message] } });
    expect(await columns()).toEqual(before);
    expect(enabled).toEqual([]);
    expect((await challenge()).access_token).toEqual(expect.any(String));
  });

  it.each(['2', '01', 'abc', '99999999999'])('is refused for the unknown user %j', async (userId) => {
    const refused = t.auth.twoFactor.importFactor(userId, { secret: BITS_160 });
    await expect(refused).rejects.toThrow(ValidationFailed);
    await expect(refused).rejects.toMatchObject({ failure: { errors: { user_id: [expect.anything()] } } });
  });

  it('is left out of a batch, and the others are imported', async () => {
    const secrets = [BITS_80, 'not base32', BITS_160, BITS_80.slice(1)];
    const refused: number[] = [];
    for (const [i, secret] of secrets.entries()) {
      await t.person(`user${i}@example.com`);
      const { status } = await t.http.post(`/imports/${i + 2}`).send({ secret });
      if (status !== 200) refused.push(i);
    }
    expect(refused).toEqual([1, 3]);
    for (const [i, secret] of secrets.entries()) {
      const { methods, challenge_token } = await challenge(`user${i}@example.com`);
      expect(methods).toEqual(refused.includes(i) ? undefined : ['totp']);
      if (methods) await completeChallenge(t, { challenge_token, code: codeOf(t, secret) }).expect(200);
    }
  });
});

describe('an import for a user with a second factor', () => {
  it('keeps an enabled factor, and answers 409', async () => {
    const { secret, recoveryCodes } = await enrol(t);
    const [before, enabled] = [await columns(), t.recorded(TwoFactorEnabled)];
    await expect(load({ secret: BITS_80 })).rejects.toMatchObject({ code: 'already_enrolled' });
    const { body } = await t.http.post('/imports/1').send({ secret: BITS_80 }).expect(409);
    expect(body.errors).toEqual({ two_factor: ['Two-factor authentication is already enabled.'] });
    expect(await columns()).toEqual(before);
    expect(enabled).toEqual([]);
    expect((await answer({ code: codeOf(t, secret) })).status).toBe(200);
    expect(await recover(recoveryCodes[0]!)).toBe(200);
  });

  it('can be repeated: the same secret changes nothing, and no used recovery code becomes valid again', async () => {
    const factor = { secret: BITS_80, recoveryCodeHashes: ['first-code', 'second-code'].map(bcrypt) };
    await load(factor);
    expect(await recover('first-code')).toBe(200);
    const [before, enabled] = [await columns(), t.recorded(TwoFactorEnabled)];
    expect(await load(factor)).toBe(false);
    expect(await load({ secret: 'gezd gnbv gy3t qojq' })).toBe(false);
    expect(await columns()).toEqual(before);
    expect(enabled).toEqual([]);
    expect(await recover('first-code')).toBe(422);
    expect(await recover('second-code')).toBe(200);
  });

  it('replaces an enabled factor with its recovery codes with the option `replace`', async () => {
    const { secret, recoveryCodes } = await enrol(t);
    const enabled = t.recorded(TwoFactorEnabled);
    expect(await load({ secret: BITS_80 }, { replace: true })).toBe(true);
    expect(enabled).toHaveLength(1);
    expect((await answer({ code: codeOf(t, secret) })).status).toBe(422);
    expect(await recover(recoveryCodes[0]!)).toBe(422);
    expect((await answer({ code: codeOf(t, BITS_80) })).status).toBe(200);
  });

  it('replaces a pending enrolment, which cannot be confirmed afterwards', async () => {
    const { access_token: token } = await t.session();
    const proof = await confirmationTokenOf(t, token);
    const { body } = await asConfirmed(t, 'post', '/auth/two-factor', token, proof).expect(200);
    await load({ secret: BITS_80 });
    const confirm = asConfirmed(t, 'post', '/auth/two-factor/confirm', token, proof);
    await confirm.send({ code: codeOf(t, secretIn(body.otpauth_uri)) }).expect(422);
    expect((await answer({ code: codeOf(t, BITS_80) })).status).toBe(200);
  });

  it('stores one of several secrets that are imported at the same time', async () => {
    const secrets = ['A', 'B', 'C', 'D'].map((letter) => `${BITS_80}${letter.repeat(8)}`);
    const outcomes = await Promise.all(secrets.map((secret) => load({ secret }).catch((error: Error) => error.name)));
    expect(outcomes.filter((outcome) => outcome === true)).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'AlreadyEnrolled')).toHaveLength(3);
    const stored = secrets[outcomes.indexOf(true)]!;
    expect((await answer({ code: codeOf(t, stored) })).status).toBe(200);
  });
});

describe('imported recovery codes', () => {
  const argon2 = (code: string): Promise<string> => t.app.get(PasswordHasher).hash(code);

  it('of each kind of hash open one session each, until none is left', async () => {
    const used = t.recorded(RecoveryCodeUsed);
    const codes = ['abcde-12345', '12345678', 'correct horse battery staple', 'ABCDEABCDE-0123456789'];
    const [first, second, third, last] = codes as [string, string, string, string];
    const recoveryCodeHashes = [bcrypt(first), pbkdf2(second), scrypt(third), await argon2(last)];
    await load({ secret: BITS_80, recoveryCodeHashes });
    expect((await challenge()).methods).toEqual(['totp', 'recovery_code']);
    for (const code of codes) {
      expect(await recover(`${code}x`)).toBe(422);
      expect(await recover(code)).toBe(200);
      expect(await recover(code)).toBe(422);
    }
    expect(used.map(({ remaining }) => remaining)).toEqual([3, 2, 1, 0]);
    expect((await challenge()).methods).toEqual(['totp']);
  });

  it('are used up once by concurrent requests', async () => {
    await load({ secret: BITS_80, recoveryCodeHashes: [bcrypt('abcde-12345')] });
    const statuses = await Promise.all(Array.from({ length: 4 }, () => recover('abcde-12345')));
    expect(statuses.toSorted()).toEqual([200, 422, 422, 422]);
  });

  it('cost one hash for each code of the set, and none for a text that cannot be a code', async () => {
    const hashes = ['first-code', 'second-code'].map(bcrypt);
    await load({ secret: BITS_80, recoveryCodeHashes: [...hashes, pbkdf2('third-code')] });
    const challenge_token = await startChallenge(t);
    const hasher = t.app.get(PasswordHasher) as unknown as { library: { verify: () => Promise<boolean> } };
    const spies = [
      jest.spyOn(hasher.library, 'verify'),
      ...verifiers.map((verifier) => jest.spyOn(verifier, 'verify')),
    ];
    const costs = async (recovery_code: string): Promise<number[]> => {
      for (const spy of spies) spy.mockClear();
      await completeChallenge(t, { challenge_token, recovery_code }).expect(422);
      return spies.map((spy) => spy.mock.calls.length);
    };
    expect(await costs('wrong-code')).toEqual([0, 2, 1, 0]);
    for (const text of ['1234567', 'x'.repeat(65), 'first-code\0', 'wröng-code', 'a\nb c d e f']) {
      expect(await costs(text)).toEqual([0, 0, 0, 0]);
    }
  });

  it('are replaced by codes of the library, and are invalid then', async () => {
    await load({ secret: BITS_80, recoveryCodeHashes: [bcrypt('abcde-12345')] });
    const [code] = await t.auth.twoFactor.replaceRecoveryCodes('1');
    expect(await recover('abcde-12345')).toBe(422);
    expect(await recover(code!)).toBe(200);
  });

  it('do not change the format of the codes of the library', async () => {
    await enrol(t);
    await t.database.query('UPDATE people SET two_factor_recovery_codes = $1', [
      JSON.stringify([await argon2('abcde-12345')]),
    ]);
    expect(await recover('abcde-12345')).toBe(422);
  });

  it('are not listed, not counted and not accepted where the verifier of their hash is removed', async () => {
    await load({ secret: BITS_80, recoveryCodeHashes: [bcrypt('abcde-12345'), await argon2('fghij-67890')] });
    const options = { ...OPTIONS, hashing: { memoryCost: 64, timeCost: 1 } };
    const later = await TestApp.start({ options, databaseUrl: t.databaseUrl });
    const lateAnswer = async (field: object) => {
      const { body } = await later.login(ADA).expect(200);
      return {
        methods: body.methods,
        status: (await completeChallenge(later, { ...field, challenge_token: body.challenge_token })).status,
      };
    };
    try {
      const both = ['totp', 'recovery_code'];
      expect(await later.auth.twoFactor.recoveryCodeCount('1')).toEqual({ remaining: 1, total: 8 });
      expect(await lateAnswer({ recovery_code: 'abcde-12345' })).toEqual({ methods: both, status: 422 });
      expect(await lateAnswer({ recovery_code: 'fghij-67890' })).toEqual({ methods: both, status: 200 });
      expect(await lateAnswer({ code: codeOf(later, BITS_80) })).toEqual({ methods: ['totp'], status: 200 });
    } finally {
      await later.stop();
    }
  });
});
