import { type KeyPairKeyObjectResult, generateKeyPairSync } from 'node:crypto';
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

const GENERATE: Readonly<Record<KeyAlgorithm, () => KeyPairKeyObjectResult>> = {
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  // As strong as P-256: 128 bits (NIST SP 800-57 part 1, table 2).
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 3072 }),
};

/** @throws Refused for an algorithm without key pairs, or a kid that an env file could not carry as it is */
export function newSigningKey(algorithm: string, kid = ''): SigningKey {
  if (!isSupported(algorithm)) {
    throw new Refused(`"${algorithm}" is not supported. Use one of: ${Object.keys(GENERATE).join(', ')}.`);
  }
  if (!/^[\w.:/@+=~-]*$/.test(kid)) {
    throw new Refused(`"${kid}" cannot be a kid. Use letters, digits and _ . : / @ + = ~ - only.`);
  }
  const { privateKey, publicKey } = GENERATE[algorithm]();
  return {
    algorithm,
    kid: kid || `k${newSecret().slice(0, 8)}`,
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}

const isSupported = (algorithm: string): algorithm is KeyAlgorithm => Object.hasOwn(GENERATE, algorithm);
