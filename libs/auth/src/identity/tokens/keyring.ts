import { type JsonWebKey, type KeyObject, createPublicKey } from 'node:crypto';
import type { GuardConfig } from '../../foundation/config/auth-config';
import type { Algorithm } from '../../foundation/config/auth-options';
import { AuthConfigError } from '../../foundation/platform/errors';
import { fits, hmacKey, privateKey, publicKey } from './key-material';
import type { RemoteKeys } from './remote-keys';

/**
 * One realm's keys, read and decrypted once: the token of a new session is signed inside its transaction, and a key
 * built for every verification costs forty times the verification.
 */
export class Keyring {
  readonly algorithm: Algorithm;
  /** `kid` of new tokens; none under HS256. */
  readonly activeKid: string | undefined;
  private readonly secrets: readonly KeyObject[];
  private readonly ownKeys: ReadonlyMap<string, KeyObject>;
  private readonly signer: KeyObject | undefined;

  /**
   * @param remote the keys that are read from elsewhere, instead of those of the configuration
   * @throws AuthConfigError for keys that could not sign, or whose signatures nobody could verify
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
        throw new AuthConfigError(`${option('secret')} (SVC_SECRET) is missing. Make one with: svc:secret --show`);
      this.secrets = [secret, ...previousSecrets].map((text, i) =>
        hmacKey(text, option(i ? 'previousSecrets' : 'secret')),
      );
      this.ownKeys = new Map();
      this.signer = this.secrets[0];
      return;
    }
    this.secrets = [];
    this.activeKid = keys.active;
    this.ownKeys = ring(config, option);
    if (remote) return;
    this.signer = keys.private ? privateKey(keys.private, keys.passphrase, option('keys.private')) : undefined;
    this.refuseUnverifiable(option);
  }

  /** Whether this realm can issue tokens, or only verify them. */
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

  /** The keys a token may have been signed with. `kid` only chooses among ours; it never brings one. */
  candidates(kid: unknown): readonly KeyObject[] {
    if (this.algorithm === 'HS256') return this.secrets;
    const key = typeof kid === 'string' ? this.publicKeys.get(kid) : undefined;
    return key ? [key] : [];
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

/** Keys that do not parse, or are of another kind than the algorithm's, are left out. */
function ring({ keys, algorithm }: GuardConfig, option: (name: string) => string): Map<string, KeyObject> {
  const entries = Object.entries(keys.public).map(
    ([kid, source]) => [kid, publicKey(source, option(`keys.public["${kid}"]`))] as const,
  );
  return new Map(entries.filter((entry): entry is [string, KeyObject] => !!entry[1] && fits(entry[1], algorithm)));
}
