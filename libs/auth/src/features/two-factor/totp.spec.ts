import { createGuardrails, generateSync } from 'otplib';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Clock } from '../../foundation/platform/clock';
import { otpLibrary } from './otp-library';
import { Totp } from './totp';

interface Row {
  time: number;
  alg: 'SHA1' | 'SHA256' | 'SHA512';
  secret_ascii: string;
  secret_base32: string;
  totp_8: string;
  totp_6: string;
}
const vectors = <T>(name: string): T =>
  JSON.parse(readFileSync(join(__dirname, `../../../../../test/vectors/rfc6238-4226/${name}.json`), 'utf8'));
const { vectors: rows } = vectors<{ vectors: Row[] }>('rfc6238_appendix_b');
const { hotp } = vectors<{ hotp: string[] }>('rfc4226_appendix_d');
const { cases: leadingZeros } = vectors<{ cases: { time: number; code: string }[] }>('leading_zero_codes');

const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

class StoppedClock extends Clock {
  constructor(private readonly at: number) {
    super();
  }

  override now(): number {
    return this.at * 1000;
  }
}

const totpAt = (time: number, window = 0): Totp =>
  new Totp(new StoppedClock(time), { options: { twoFactor: { window } } } as never);

describe('TOTP', () => {
  const sha1 = rows.filter(({ alg }) => alg === 'SHA1');

  it('is tested with all vectors', () => {
    expect([rows.length, sha1.length, hotp.length]).toEqual([18, 6, 10]);
    expect(leadingZeros.length).toBeGreaterThan(5);
  });

  it.each(sha1)('accepts $totp_6 at $time (RFC 6238 Appendix B)', ({ time, totp_6, secret_base32 }) => {
    expect(totpAt(time).match(secret_base32, totp_6)).toEqual({
      secret: secret_base32,
      code: totp_6,
      step: Math.floor(time / 30),
    });
    const other = String((Number(totp_6) + 1) % 1e6).padStart(6, '0');
    expect(totpAt(time).match(secret_base32, other)).toBeNull();
  });

  it.each(rows)('uses a library that computes $totp_8 at $time with $alg', (row) => {
    const { verifySync } = otpLibrary()();
    const algorithm = row.alg.toLowerCase() as 'sha1';
    const secret = Buffer.from(row.secret_ascii);
    expect(verifySync({ secret, token: row.totp_8, epoch: row.time, digits: 8, algorithm })).toMatchObject({
      valid: true,
      timeStep: Math.floor(row.time / 30),
    });
  });

  it.each(hotp.map((code, counter) => [counter, code] as const))(
    'accepts at step %d the code %s (RFC 4226 Appendix D)',
    (counter, code) => {
      expect(totpAt(counter * 30).match(SECRET, code)).toMatchObject({ step: counter });
    },
  );

  it.each(leadingZeros)('accepts $code at $time only with its leading zeros', ({ time, code }) => {
    expect(totpAt(time).match(SECRET, code)).not.toBeNull();
    expect(totpAt(time).match(SECRET, String(Number(code)))).toBeNull();
  });

  it.each([
    [0, [0]],
    [1, [-1, 0, 1]],
  ])('with a window of %d accepts the steps %j', (window, steps) => {
    const accepted = [-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5].filter((ahead) =>
      [1_000_000 * 30, 1_000_000 * 30 + 29].every((now) => {
        const code = generateSync({ secret: SECRET, epoch: (1_000_000 + ahead) * 30 });
        return totpAt(now, window).match(SECRET, code) !== null;
      }),
    );
    expect(accepted).toEqual(steps);
    expect(totpAt(0, window).codeLifetime).toBe((2 * window + 1) * 30);
  });

  it.each(['', ' ', '12345', '1234567', '12345x', '-12345', '1e5000', '123456\n7', '0x1234'])(
    'refuses %j, which is not a code',
    (code) => expect(totpAt(59).match(SECRET, code)).toBeNull(),
  );

  it('accepts no code without a secret', () => {
    expect(totpAt(59).match(null, '287082')).toBeNull();
    expect(totpAt(59).match('', '287082')).toBeNull();
  });

  it.each([
    ['GEZDGNBVGY3TQOJQ', true],
    ['gezdgnbvgy3tqojq', true],
    ['GEZDGNBVGY3TQOJQGE', true],
    [SECRET, true],
    ['A'.repeat(103), true],
    ['A'.repeat(104), false],
    ['A'.repeat(1000), false],
    ['GEZDGNBVGY3TQOI', false],
    ['GEZDGNBVGY3TQOJQG', false],
    ['GEZDGNBVGY3TQOJQGF', false],
    ['GEZDGNBVGY3TQO1Q', false],
    ['', false],
    ['not base32', false],
  ])('can use the secret %s: %s', (secret, isUsable) => {
    expect(totpAt(59).isUsable(secret)).toBe(isUsable);
    expect(() => totpAt(59).match(secret, '287082')).not.toThrow();
  });

  it('accepts a code of a secret of 80 bits', () => {
    const secret = SECRET.slice(0, 16);
    const guardrails = createGuardrails({ MIN_SECRET_BYTES: 10 });
    const code = generateSync({ secret, epoch: 59, guardrails });
    expect(totpAt(59).match(secret, code)).toEqual({ secret, code, step: 1 });
  });

  it('encodes bytes in base32 without padding', () => {
    expect(totpAt(0).encoded(Buffer.from('12345678901234567890'))).toBe(SECRET);
    expect(totpAt(0).encoded(Buffer.from('1234567890a'))).toBe('GEZDGNBVGY3TQOJQME');
  });

  it('makes different secrets of 160 bits', () => {
    const secrets = Array.from({ length: 100 }, () => totpAt(0).newSecret());
    for (const secret of secrets) expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(new Set(secrets).size).toBe(100);
  });

  it('names a missing package in the error', () => {
    expect(() => otpLibrary(() => false)).toThrow(/features\.twoFactor needs otplib\. Run: npm install otplib/);
  });
});
