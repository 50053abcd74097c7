import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { KeyObject, type webcrypto } from 'node:crypto';
import { Clock, Realm, SecurityStore, crypto, errors, http, identity, peer, settings } from '../../kit';
import { PROOF_ALGORITHMS, type ProofClaims, type ProofFault, pathOfTarget, proofFault } from './proof.policy';

type Jose = typeof import('jose');

/** Maximum length of a proof. Those of the algorithms of both features have less than 1,000 characters. */
export const PROOF_MAX = 4096;

/** @param option the feature that needs the package. @throws AuthConfigError without it */
export function loadJose(option: string): Jose {
  const jose = peer.optionalPeer<Jose>('jose');
  if (!jose) throw new errors.AuthConfigError(`${option} needs the package jose: npm install jose`);
  return jose;
}

/** The number of keys of clients that a guard keeps imported. */
const KEYS = 1000;

/** A proof of a request. */
export interface KeyProof {
  /** The thumbprint (RFC 7638) of its key; null if its signature is not valid. */
  readonly jkt: string | null;
  /** The hash of the access token that it is for. */
  readonly ath?: unknown;
  readonly fault: ProofFault | null;
}

/** What a proof must be for. One that is for something else is not recorded as used. */
export interface ExpectedProof {
  readonly jkt: string;
  /** The hash of an access token; undefined without one. */
  readonly ath?: string;
}

/** What the adapters, Node and socket.io have of a request or a handshake. */
interface Received extends identity.Credentialed {
  readonly method?: string;
  readonly originalUrl?: string;
  readonly url?: string;
  readonly protocol?: string;
  readonly host?: unknown;
  readonly secure?: boolean;
  readonly socket?: { readonly encrypted?: boolean };
}

/** The results for the proofs of one connection, by their text: code of the host can give its messages proofs of their own. */
type Judged = Map<unknown, Promise<KeyProof | null>>;

/** The number of proofs that are kept for a connection. */
const PROOFS = 8;

const UNREADABLE: KeyProof = { jkt: null, fault: 'form' };

interface ImportedKey {
  readonly key: webcrypto.CryptoKey;
  /** For ES256; null for the other algorithms. */
  readonly ofJwt: KeyObject | null;
  readonly jkt: string;
}

/** Verifies the signatures of proofs. */
class ProofSignatures {
  private readonly jose = loadJose('features.boundSessions');
  /** By the protected header, which is the same in all proofs of a client: an import takes longer than a verification. */
  private readonly keys = new Map<string, ImportedKey>();
  private readonly jwt = new JwtService();

  /** The claims of a proof and the thumbprint of its key; null if it is not valid. Uses no store. */
  async read(proof: string, now: Date): Promise<{ claims: ProofClaims & { ath?: unknown }; jkt: string } | null> {
    const header = proof.split('.', 1)[0]!;
    try {
      const known = this.keys.get(header);
      if (known) return { claims: await this.claimsOf(proof, known, now), jkt: known.jkt };
      // `EmbeddedJWK` refuses a private and a symmetric key.
      const { EmbeddedJWK, calculateJwkThumbprint, jwtVerify } = this.jose;
      const { payload, protectedHeader, key } = await jwtVerify(proof, EmbeddedJWK, rulesAt(now));
      const ofJwt = protectedHeader.alg === 'ES256' ? KeyObject.from(key) : null;
      const jkt = await calculateJwkThumbprint(protectedHeader.jwk!);
      if (this.keys.size >= KEYS) this.keys.delete(this.keys.keys().next().value!);
      this.keys.set(header, { key, ofJwt, jkt });
      return { claims: payload, jkt };
    } catch {
      return null;
    }
  }

  /**
   * The claims of a proof whose header was judged before. `@nestjs/jwt` takes two thirds of the processor time of `jose`, and
   * verifies no Ed25519.
   *
   * @throws where it is not valid
   */
  private async claimsOf(proof: string, { key, ofJwt }: ImportedKey, now: Date): Promise<ProofClaims> {
    if (!ofJwt) return (await this.jose.jwtVerify(proof, key, rulesAt(now))).payload;
    const clockTimestamp = Math.floor(now.getTime() / 1000);
    return this.jwt.verify<ProofClaims>(proof, { publicKey: ofJwt as never, algorithms: ['ES256'], clockTimestamp });
  }
}

const rulesAt = (currentDate: Date) => ({ typ: 'dpop+jwt', algorithms: [...PROOF_ALGORITHMS], currentDate });

/** Verifies the proofs that requests carry (RFC 9449 §4.3): each once. */
@Injectable()
export class Proofs implements OnApplicationBootstrap {
  private readonly signatures = new ProofSignatures();
  private readonly nonces: crypto.Signatures | undefined;
  private readonly judged = new WeakMap<object, Judged>();
  /** The server of the store that has the recorded proofs; null while it is not known, undefined before its first answer. */
  private instance: string | null | undefined;
  private since = 0;

  constructor(
    private readonly realm: Realm,
    private readonly store: SecurityStore,
    private readonly clock: Clock,
    @Inject(settings.AUTH_CONFIG) { encryption }: settings.AuthConfig,
  ) {
    if (realm.options.boundSessions.nonceSeconds === 0) return;
    const roots = crypto.rootsOf(realm.options, encryption);
    if (!roots.length)
      throw new errors.AuthConfigError(
        'boundSessions.nonceSeconds needs encryption.key (SVC_ENCRYPTION_KEY), or secret: nonces are signed with it.',
      );
    this.nonces = new crypto.Signatures(roots, 'svc:dpop-nonce');
  }

  /** The store can fail over before the first proof. */
  async onApplicationBootstrap(): Promise<void> {
    await this.noteInstance().catch(() => undefined);
  }

  /** The proof of a request; null without one. On a socket, that of its handshake, which each message has. @throws StoreUnavailable */
  of(request: object, expected?: ExpectedProof): Promise<KeyProof | null> {
    const connection = http.connectionOf(request);
    // A server call has the names of the headers in lower case.
    const proof = (request as Received).headers?.dpop;
    const judged: Judged = this.judged.get(connection) ?? new Map();
    this.judged.set(connection, judged);
    const known = judged.get(proof);
    if (known) return known;
    const forget = (): unknown => judged.get(proof) === result && judged.delete(proof);
    const result = this.read(request, expected, forget);
    if (judged.size >= PROOFS) judged.delete(judged.keys().next().value);
    judged.set(proof, result);
    // A silent store decides nothing: the next message of a socket asks again.
    result.catch(forget);
    return result;
  }

  /** A new nonce; null where proofs have none. */
  nonce(): string | null {
    if (!this.nonces) return null;
    const time = String(this.clock.seconds());
    return `${time}.${this.nonces.sign(this.signed(time))}`;
  }

  /** @param forget is called for a valid proof that is not recorded: it is judged again when it is of use */
  private async read(
    request: Received,
    expected: ExpectedProof | undefined,
    forget: () => unknown,
  ): Promise<KeyProof | null> {
    const proof = request.headers?.dpop;
    if (proof === undefined) return null;
    if (typeof proof !== 'string' || identity.isRepeated('dpop', request) || proof.length > PROOF_MAX)
      return UNREADABLE;
    const received = receivedOf(request);
    const read = await this.signatures.read(proof, new Date(this.clock.now()));
    if (!read) return UNREADABLE;
    const { claims, jkt } = read;
    const { ath } = claims;
    const addresses = this.addressesOf(received);
    const { proofSeconds, nonceSeconds } = this.realm.options.boundSessions;
    const nonceAt = this.timeOf(claims.nonce);
    const { since } = this;
    const fault = (): ProofFault | null => {
      const times = { now: this.clock.seconds(), proofSeconds, nonceSeconds, nonceAt, since: this.since };
      return proofFault(claims, { method: methodOf(received), addresses, ...times });
    };
    const first = fault();
    const isExpected = !expected || (jkt === expected.jkt && (expected.ath === undefined || ath === expected.ath));
    // Nothing is stored for a proof that is not valid, or of no use.
    if (!isExpected) forget();
    if (first || !isExpected) return { jkt, ath, fault: first };
    const key = `svc:proof:${this.realm.guard}:${crypto.sha256(`${jkt} ${String(claims.jti)}`)}`;
    const end = nonceAt === null ? Number(claims.iat) + proofSeconds : nonceAt + nonceSeconds;
    const isNew = await this.store.add(key, '1', Math.max(end - this.clock.seconds(), 0) + identity.CLOCK_MARGIN);
    await this.noteInstance();
    // Judged again if the store that has answered is a new one.
    const last = this.since > since ? fault() : null;
    return { jkt, ath, fault: isNew ? last : 'replayed' };
  }

  /**
   * A server that takes over lacks the latest proofs, so only those that are made from now on are accepted; also while it is not
   * known which server answers.
   */
  private async noteInstance(): Promise<void> {
    if (this.store.instance === null) await this.store.identify();
    const { instance } = this.store;
    if (instance !== null && instance === this.instance) return;
    if (this.instance !== undefined) this.since = this.clock.seconds();
    this.instance = instance;
  }

  /** When the guard made a nonce; null for any other text. */
  private timeOf(nonce: unknown): number | null {
    if (!this.nonces || typeof nonce !== 'string') return null;
    const [time = '', signature = ''] = nonce.split('.');
    return /^\d{1,12}$/.test(time) && this.nonces.verify(this.signed(time), signature) ? Number(time) : null;
  }

  private signed(time: string): string {
    return `${this.realm.guard}:${time}`;
  }

  private addressesOf(request: Received): string[] {
    const target = request.originalUrl ?? request.url;
    if (target === undefined) return [];
    const path = pathOfTarget(target);
    if (path === null) return [];
    const { addresses } = this.realm.options.boundSessions;
    const own = addresses.length ? addresses : [originOf(request)];
    return own.map((address) => address.replace(/\/$/, '') + path);
  }
}

/** The request or the handshake that a call of the library is about. */
function receivedOf(request: object): Received {
  return request instanceof http.CarriedRequest ? receivedOf(request.source) : request;
}

/** A handshake of socket.io has no method. */
const methodOf = ({ method, url }: Received): string | undefined => method ?? (url === undefined ? undefined : 'GET');

function originOf({ protocol, host, secure, socket, headers }: Received): string {
  const scheme = protocol ?? (secure || socket?.encrypted ? 'https' : 'http');
  return `${scheme}://${String(host ?? headers?.host)}`;
}
