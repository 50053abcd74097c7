import { Injectable } from '@nestjs/common';
import { type Text, errors, identity } from '../../kit';
import { importedColumn } from './recovery-codes';
import { Totp } from './totp';
import { twoFactorText } from './two-factor.texts';

/**
 * A second factor of another system, as `TwoFactor.importFactor` takes it.
 *
 * @publicApi
 */
export interface ImportedFactor {
  /**
   * The TOTP secret of 10 to 64 bytes: in base32, as an `otpauth://totp/` URI, or as bytes. In base32, spaces, hyphens,
   * lower case and padding are accepted.
   */
  secret: string | Uint8Array;

  /** Hash of the codes. Only SHA-1 is supported, which is the default; also as `HmacSHA1`. */
  algorithm?: string | null;

  /** Digits of a code. Only 6 is supported, which is the default. */
  digits?: number | null;

  /** Seconds of a time step. Only 30 is supported, which is the default. */
  period?: number | null;

  /**
   * Hashes of the unused recovery codes, at most 20: argon2id, or of a kind in `hashing.verifiers`. None by default.
   * The codes have 8 to 64 printable ASCII characters. Fast hashes such as SHA-256 are refused: they do not show whether
   * the codes have enough entropy for them.
   */
  recoveryCodeHashes?: readonly string[] | null;

  /** Time at which the user confirmed the enrolment. Default: now. */
  confirmedAt?: Date | null;
}

/** The parts of a factor that can be stored. */
export interface UsableFactor {
  /** Base32 without padding. */
  readonly secret: string;
  /** Value of the column. */
  readonly recoveryCodes: string;
  readonly confirmedAt: Date | null;
}

/** Checks factors of other systems before they are stored. */
@Injectable()
export class FactorImports {
  constructor(
    private readonly totp: Totp,
    private readonly passwords: identity.PasswordCheck,
  ) {}

  /** @throws ValidationFailed under `secret`, `recovery_code_hashes` or `confirmed_at`. It contains none of the values */
  validated(factor: ImportedFactor): UsableFactor {
    if (typeof factor !== 'object' || factor === null) throw new errors.ValidationFailed({ secret: [UNUSABLE] });
    const { recoveryCodeHashes, confirmedAt } = factor;
    const hashes: unknown = recoveryCodeHashes ?? [];
    const secret = importedSecret(factor, (bytes) => this.totp.encoded(bytes));
    if (secret === null || !this.totp.isUsable(secret)) throw new errors.ValidationFailed({ secret: [UNUSABLE] });
    if (!Array.isArray(hashes) || hashes.length > MOST_IMPORTED) throw invalid('recovery_code_hashes');
    const refused = hashes.flatMap((hash, i) => (typeof hash === 'string' && this.passwords.accepts(hash) ? [] : [i]));
    if (refused.length > 0) throw new errors.ValidationFailed(Object.fromEntries(refused.map(unusableHash)));
    if (confirmedAt && !(confirmedAt instanceof Date && confirmedAt.getTime() >= 0)) throw invalid('confirmed_at');
    return { secret, recoveryCodes: importedColumn(hashes), confirmedAt: confirmedAt ?? null };
  }
}

/** Maximum number of imported recovery codes: each wrong code can cost a hash of each of them. */
const MOST_IMPORTED = 20;

const UNUSABLE: Text = twoFactorText('auth.unusable_secret');

const unusableHash = (index: number): [string, Text[]] => [
  `recovery_code_hashes.${index}`,
  [twoFactorText('auth.unusable_hash')],
];

const invalid = (field: string): errors.ValidationFailed =>
  new errors.ValidationFailed({
    [field]: [{ key: 'validation.invalid', params: { field: field.replaceAll('_', ' ') } }],
  });

/**
 * The secret of a factor in base32; null if it cannot be read, or if its codes are not those that the library checks:
 * SHA-1, six digits, 30 seconds. The number of its bytes is not checked here.
 *
 * @param encode encodes bytes in base32
 */
export function importedSecret(factor: ImportedFactor, encode: (bytes: Uint8Array) => string): string | null {
  const { secret }: { secret: unknown } = factor;
  if (!isSupported(factor)) return null;
  if (secret instanceof Uint8Array) return encode(secret);
  if (typeof secret !== 'string') return null;
  return URI.test(secret) ? secretOfUri(secret) : base32(secret);
}

/** The secret in a URI of the "Key Uri Format". */
function secretOfUri(uri: string): string | null {
  if (!URL.canParse(uri)) return null;
  const { host, searchParams } = new URL(uri);
  const { secret = '', ...parameters } = Object.fromEntries(searchParams);
  return host.toLowerCase() === 'totp' && isSupported(parameters) ? base32(secret) : null;
}

/** The text in upper case, without spaces, hyphens and padding; null for other characters. */
const base32 = (text: string): string | null => BASE32.exec(text.replaceAll(/[\s-]/g, ''))?.[1]?.toUpperCase() ?? null;

const isSupported = ({ algorithm, digits, period }: Partial<Record<keyof ImportedFactor, unknown>>): boolean =>
  SHA1.test(textOf(algorithm, 'SHA1')) && textOf(digits, '6') === '6' && textOf(period, '30') === '30';

/** The text of a text or a number; the default for none; empty for every other value. */
function textOf(value: unknown, absent: string): string {
  if (value === undefined || value === null) return absent;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

const URI = /^otpauth:/i;

const BASE32 = /^([A-Za-z2-7]+)={0,6}$/;

const SHA1 = /^(hmac-?)?sha-?1$/i;
