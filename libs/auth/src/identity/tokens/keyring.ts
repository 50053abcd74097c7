import { JwtService } from '@nestjs/jwt';
import { type JsonWebKey, type KeyObject, createPublicKey } from 'node:crypto';
import type { GuardConfig } from '../../foundation/config/auth-config';
import type { Algorithm } from '../../foundation/config/auth-options';
import { withoutSecret } from '../../foundation/config/guard-isolation.policy';
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
      const missing = withoutSecret(config);
      if (missing) throw new AuthConfigError(missing);
      this.secrets = [secret!, ...previousSecrets].map((text, i) =>
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
        `${option('keys.private')} (SVC_PRIVATE_KEY) and keys.public["${this.activeKid}"] are not one pair. Publish the public key of the private one.`,
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

/** A JWS with a verified signature. Its claims are not checked. */
export interface VerifiedJws {
  header: Readonly<Record<string, unknown>>;
  claims: Readonly<Record<string, unknown>>;
}

/** The result of `verify` and `decode` with the option `complete`. */
interface Jwt {
  header: VerifiedJws['header'];
  payload: VerifiedJws['claims'] | string;
}

/** Signs claims without changing them. `typ` identifies the kind of token (RFC 8725 §3.11). */
export function signJws(keyring: Keyring, typ: string, claims: object): string {
  const { algorithm, activeKid, signingKey } = keyring;
  const header = activeKid === undefined ? { typ, alg: algorithm } : { typ, alg: algorithm, kid: activeKid };
  // All options are passed here: merging them with options of the service takes as long as the signature.
  return keyring.serviceOf(signingKey).sign(claims, { algorithm, header });
}

/** The number of signatures that each of the two parts of {@link VerifiedSignatures} holds. */
const REMEMBERED = 1000;

/**
 * Remembers which key has verified the signature of a token. The entry is for the complete text and one key object, so it
 * says only what another verification would say: see docs/decisions/no-cached-verdicts.md. A token that is used again
 * within the next thousand tokens is kept.
 */
export class VerifiedSignatures {
  private recent = new Map<string, KeyObject>();
  private former = new Map<string, KeyObject>();

  keyOf(token: string): KeyObject | undefined {
    const recent = this.recent.get(token);
    if (recent) return recent;
    const former = this.former.get(token);
    if (former) this.add(token, former);
    return former;
  }

  add(token: string, key: KeyObject): void {
    if (this.recent.size >= REMEMBERED) [this.former, this.recent] = [this.recent, new Map()];
    this.recent.set(token, key);
  }
}

/**
 * Verifies a JWS against the key ring, with the algorithm pinned to the configured one (RFC 8725 §3.1).
 * Does not check times. Null if the token is not a JWS with a valid signature of the key ring.
 *
 * @param signatures for tokens that are presented many times, with an asymmetric algorithm
 */
export const verifyJws = (keyring: Keyring, token: string, signatures?: VerifiedSignatures): VerifiedJws | null =>
  verified(keyring, token, signatures)?.jws ?? null;

/** The key of the ring that verifies a JWS, or null. */
export const verifyingKey = (keyring: Keyring, token: string): KeyObject | null =>
  verified(keyring, token)?.key ?? null;

/** Reads tokens without a key. */
const decoder = new JwtService();

/** The claims of a token, without a verification of its signature: for tokens that this process has just signed. */
export const unverifiedClaims = (token: string): (VerifiedJws['claims'] & { readonly sub?: string }) | null =>
  decoder.decode(token, { json: true });

/** The parts of a token without a verification of its signature. Undefined for a token that cannot be parsed. */
function parsed(token: string): Jwt | undefined {
  try {
    return (decoder.decode(token, { complete: true }) as unknown as Jwt | null) ?? undefined;
  } catch {
    return undefined;
  }
}

/**
 * Waits until the ring has read the remote key set, if it lacks the key that a token names. Undefined if there is
 * nothing to wait for, as with configured keys.
 *
 * @throws StoreUnavailable if the key set cannot be read
 */
export const prepareKey = ({ remote }: Keyring, token: string): Promise<void> | undefined =>
  remote?.prepare(parsed(token)?.header.kid);

function verified(
  keyring: Keyring,
  token: string,
  signatures?: VerifiedSignatures,
): { key: KeyObject; jws: VerifiedJws } | null {
  const known = signatures?.keyOf(token);
  // HS256 tokens have no `kid`, so an unknown one is not parsed before its signature is verified.
  const jwt = keyring.activeKid !== undefined ? parsed(token) : undefined;
  for (const key of keyring.candidates(jwt?.header.kid)) {
    try {
      // A key that was removed from the ring is no candidate any more.
      const { header, payload } = jwt && key === known ? jwt : keyring.serviceOf(key).verify<Jwt>(token);
      if (typeof payload !== 'object' || Array.isArray(payload)) return null;
      if (key !== known) signatures?.add(token, key);
      return { key, jws: { header: { ...header }, claims: payload } };
    } catch {
      // Not signed with this key. After a change of the secret, a previous secret may have signed the token.
    }
  }
  return null;
}
