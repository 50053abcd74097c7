import type { JwtService } from '@nestjs/jwt';
import { type JsonWebKey, type KeyObject, createPublicKey } from 'node:crypto';
import type { GuardConfig } from '../../foundation/config/auth-config';
import type { Algorithm } from '../../foundation/config/auth-options';
import { AuthConfigError } from '../../foundation/platform/errors';
import { fits, hmacKey, jwtServiceOf, privateKey, publicKey } from './key-material';
import type { RemoteKeys } from './remote-keys';

/**
 * Holds the keys of one realm. They are read and decrypted once: tokens of new sessions are signed within a
 * transaction, and building a key costs forty times a verification.
 */
export class Keyring {
  readonly algorithm: Algorithm;
  /** `kid` of new tokens; undefined under HS256. */
  readonly activeKid: string | undefined;
  private readonly secrets: readonly KeyObject[];
  private readonly ownKeys: ReadonlyMap<string, KeyObject>;
  private readonly signer: KeyObject | undefined;
  /** Weak, because a remote key set replaces its keys. */
  private readonly services = new WeakMap<KeyObject, JwtService>();

  /**
   * @param remote the remote key set that replaces the configured keys
   * @throws AuthConfigError for keys that cannot sign, or whose signatures the key ring cannot verify
   */
  constructor(
    config: GuardConfig,
    readonly remote?: RemoteKeys,
  ) {
    const { algorithm, keys, secret, previousSecrets } = config;
    const option = config.nameOf;
    this.algorithm = algorithm;
    if (algorithm === 'HS256') {
      if (!secret)
        throw new AuthConfigError(
          `${option('secret')} (SVC_SECRET) is missing. Make one with: npx svc-auth secret --show`,
        );
      this.secrets = [secret, ...previousSecrets].map((text, i) =>
        hmacKey(text, i ? `${option('previousSecrets')} (SVC_PREVIOUS_SECRETS)` : `${option('secret')} (SVC_SECRET)`),
      );
      this.ownKeys = new Map();
      this.signer = this.secrets[0];
      return;
    }
    this.secrets = [];
    this.activeKid = keys.active;
    this.ownKeys = ring(config, option);
    if (remote) return;
    this.signer = keys.private
      ? privateKey(keys.private, keys.passphrase, `${option('keys.private')} (SVC_PRIVATE_KEY)`)
      : undefined;
    this.refuseUnverifiable(option);
  }

  /** Whether this realm can issue tokens. If not, it only verifies. */
  get canSign(): boolean {
    return this.signer !== undefined;
  }

  private get publicKeys(): ReadonlyMap<string, KeyObject> {
    return this.remote?.keys ?? this.ownKeys;
  }

  /** The key that signs. @throws AuthConfigError in a verify-only deployment */
  get signingKey(): KeyObject {
    if (this.signer) return this.signer;
    throw new AuthConfigError('keys.private (SVC_PRIVATE_KEY) is missing: this deployment only verifies tokens.');
  }

  /** The keys that a token may be signed with. `kid` selects one of the configured keys; it never adds a key. */
  candidates(kid: unknown): readonly KeyObject[] {
    if (this.algorithm === 'HS256') return this.secrets;
    const key = typeof kid === 'string' ? this.publicKeys.get(kid) : undefined;
    return key ? [key] : [];
  }

  /** The `JwtService` of a key of this ring. Each key has its own. */
  serviceOf(key: KeyObject): JwtService {
    const known = this.services.get(key);
    if (known) return known;
    const service = jwtServiceOf(key, this.algorithm);
    this.services.set(key, service);
    return service;
  }

  /** The public keys as a JWK Set (RFC 7517 §5); empty under HS256. */
  jwks(): { keys: JsonWebKey[] } {
    const keys = [...this.publicKeys].map(([kid, key]) => ({
      ...key.export({ format: 'jwk' }),
      kid,
      use: 'sig',
      alg: this.algorithm,
    }));
    return { keys };
  }

  private refuseUnverifiable(option: (name: string) => string): void {
    const active = this.publicKeys.get(this.activeKid ?? '');
    if (!active) {
      throw new AuthConfigError(
        `${option('keys.active')} (SVC_ACTIVE_KID) is "${this.activeKid}", but keys.public has no readable ${this.algorithm} key ` +
          `under that name, so nothing could verify new tokens. Add it to keys.public (SVC_PUBLIC_KEY).`,
      );
    }
    if (this.signer && !createPublicKey(this.signer).equals(active)) {
      throw new AuthConfigError(
        `${option('keys.private')} and keys.public["${this.activeKid}"] are not one pair. Publish the public key of the private one.`,
      );
    }
  }
}

/** Reads the public keys. Omits keys that cannot be parsed or do not match the algorithm. */
function ring({ keys, algorithm }: GuardConfig, option: (name: string) => string): Map<string, KeyObject> {
  const entries = Object.entries(keys.public).map(
    ([kid, source]) => [kid, publicKey(source, option(`keys.public["${kid}"]`))] as const,
  );
  return new Map(entries.filter((entry): entry is [string, KeyObject] => !!entry[1] && fits(entry[1], algorithm)));
}
