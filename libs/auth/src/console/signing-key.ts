import { generateKeyPairSync } from 'node:crypto';
import { newSecret } from '../kernel/secrets';
import { Refused } from './refused';

/** A new key pair and the names it is configured under. */
export interface SigningKey {
  algorithm: KeyAlgorithm;
  kid: string;
  /** PEM, PKCS #8. */
  privateKey: string;
  /** PEM, SPKI. */
  publicKey: string;
}

export type KeyAlgorithm = 'ES256' | 'RS256';

const ENCODING = {
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
} as const;

const GENERATE: Readonly<Record<KeyAlgorithm, () => { publicKey: string; privateKey: string }>> = {
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256', ...ENCODING }),
  // As strong as P-256: 128 bits (NIST SP 800-57 part 1, table 2).
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 3072, ...ENCODING }),
};

/** @throws Refused for an algorithm without key pairs, or a kid that an env file could not carry as it is */
export function newSigningKey(algorithm: string, kid = ''): SigningKey {
  if (!isSupported(algorithm)) {
    throw new Refused(`"${algorithm}" is not supported. Use one of: ${Object.keys(GENERATE).join(', ')}.`);
  }
  if (!/^[\w.:/@+=~-]*$/.test(kid)) {
    throw new Refused(`"${kid}" cannot be a kid. Use letters, digits and _ . : / @ + = ~ - only.`);
  }
  return { algorithm, kid: kid || `k${newSecret().slice(0, 8)}`, ...GENERATE[algorithm]() };
}

const isSupported = (algorithm: string): algorithm is KeyAlgorithm => Object.hasOwn(GENERATE, algorithm);
