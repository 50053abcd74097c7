import { JwtService } from '@nestjs/jwt';
import { type KeyObject, createPrivateKey, createPublicKey, createSecretKey } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { Algorithm } from '../../foundation/config/auth-options';
import { AuthConfigError } from '../../foundation/platform/errors';

const MIN_SECRET_BYTES = 32;
const MIN_RSA_BITS = 2048;

/** Builds an HMAC key from the secret's UTF-8 bytes. @throws AuthConfigError under 256 bits (RFC 7518 §3.2) */
export function hmacKey(secret: string, option: string): KeyObject {
  const bytes = Buffer.from(secret, 'utf8');
  if (bytes.length >= MIN_SECRET_BYTES) return createSecretKey(bytes);
  throw new AuthConfigError(
    `${option} has ${bytes.length * 8} bits; HS256 needs at least 256. Make one with: npx svc-auth secret --show`,
  );
}

/** Reads an inline PEM, or the file at a path. Undefined if the source is empty or the file does not exist. */
export function readPem(source: string | undefined): string | undefined {
  if (!source?.trim()) return undefined;
  if (source.includes('-----BEGIN')) return source.replace(/\\n/g, '\n');
  const path = source.replace(/^@/, '');
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** Whether the type of a key matches the algorithm. */
export function fits(key: KeyObject, algorithm: Algorithm): boolean {
  if (algorithm === 'ES256') {
    return key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1';
  }
  return algorithm === 'RS256' && key.asymmetricKeyType === 'rsa';
}

/** Reads a public key. Undefined for an unreadable key, which the key ring omits. */
export function publicKey(source: string, option: string): KeyObject | undefined {
  const pem = readPem(source);
  if (!pem) return undefined;
  try {
    const key = createPublicKey(pem);
    refuseWeakRsa(key, option);
    return key;
  } catch (error) {
    if (error instanceof AuthConfigError) throw error;
    return undefined;
  }
}

/** Reads the private key that signs. @throws AuthConfigError for an unusable key, with the reason and the correction */
export function privateKey(source: string, passphrase: string | undefined, option: string): KeyObject {
  const pem = readPem(source);
  if (!pem) throw new AuthConfigError(`${option} names no readable key file. Give a PEM or the path of one.`);
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: pem, passphrase });
  } catch {
    throw new AuthConfigError(
      `${option} cannot be read: it is no private key, or keys.passphrase (SVC_KEY_PASSPHRASE) is missing or wrong.`,
    );
  }
  refuseWeakRsa(key, option);
  return key;
}

/**
 * A `JwtService` that signs with one key, or verifies with it and one algorithm. It is not a provider, so a `JwtService`
 * of the host has no effect on the tokens of the library, and the host does not inject this one. It neither adds nor
 * checks times: the token policies do so with the `Clock`.
 */
export const jwtServiceOf = (key: KeyObject, algorithm: Algorithm): JwtService =>
  new JwtService({
    privateKey: key,
    publicKey: key,
    verifyOptions: { algorithms: [algorithm], complete: true, ignoreExpiration: true, ignoreNotBefore: true },
  });

/** Whether a key is an RSA key under 2048 bits (RFC 7518 §3.3). */
export const isWeakRsa = ({ asymmetricKeyDetails: { modulusLength = MIN_RSA_BITS } = {} }: KeyObject): boolean =>
  modulusLength < MIN_RSA_BITS;

function refuseWeakRsa(key: KeyObject, option: string): void {
  if (!isWeakRsa(key)) return;
  throw new AuthConfigError(
    `${option} is an RSA key of ${key.asymmetricKeyDetails?.modulusLength} bits; at least 2048 are needed. Make one with: npx svc-auth keygen --algorithm=RS256`,
  );
}
