import { Injectable } from '@nestjs/common';
import { randomInt, randomUUID } from 'node:crypto';
import { type Limit, Realm, SecurityStore, crypto, http, identity, limiter } from '../../kit';

/** Number of guesses at one code. */
const TRIES = 5;

/** An open request for a code, as it is stored. */
interface StoredRequest {
  /** The address in the request. */
  readonly address: string;
  /** The counter of failed logins on which wrong codes count: see `loginLock`. Null until the address was looked up. */
  readonly subject: string | null;
  /** The MAC of the code; a random text while there is no code. */
  readonly mac: string;
  /** The token that ends with the password and with the sessions of the user; empty while there is no code. */
  readonly proof: string;
}

/** An open request for a code. */
export interface OpenRequest {
  readonly address: string;
  readonly subject: string | null;
  readonly proof: string;
  /** Whether this is the code. Always false while there is no code. */
  readonly matches: (code: string) => boolean;
}

/** The address of a request after its look-up. */
export interface LookedUp {
  readonly address: string;
  readonly subject: string;
}

export const EMAIL_CODE: identity.Purpose = {
  type: 'email+code',
  lifetime: ({ emailCode }) => 60 * emailCode.expireMinutes,
  isChallenge: true,
};

/** The cookie that binds a mailed code to the browser that asked for it. */
@Injectable()
export class EmailCodeCookie extends http.TokenCookie {
  static override readonly suffix = '.code';
}

/** The account for which a code is issued. */
export interface CodeOwner {
  readonly userId: string;
  /** The address to which the code is mailed. */
  readonly email: string;
  /** The stored password hash; null for none. */
  readonly digest: string | null;
}

/**
 * Stores the requests for mailed codes. A request is found by the secret token of the browser that asked. The store contains
 * a hash of the token, and the request is encrypted with a key that is derived from it: without the token of the browser,
 * neither the code nor the address can be found out, although a code has few digits.
 */
@Injectable()
export class EmailCodes {
  constructor(
    private readonly store: SecurityStore,
    private readonly tokens: identity.PurposeTokens,
    private readonly realm: Realm,
  ) {}

  /** Seconds for which a code is valid. */
  get lifetime(): number {
    return EMAIL_CODE.lifetime(this.realm.options);
  }

  /** Opens a request, and returns its token. It has no code until {@link issue}. @throws StoreUnavailable */
  async open(address: string): Promise<string> {
    const token = crypto.newSecret();
    await this.write(token, { address, subject: null, mac: crypto.newSecret(), proof: '' });
    return token;
  }

  /**
   * Makes the code of a request, and returns it.
   *
   * @throws StoreUnavailable
   */
  async issue(token: string, { address, subject }: LookedUp, { userId, ...bound }: CodeOwner): Promise<string> {
    const { digits } = this.realm.options.emailCode;
    const code = String(randomInt(10 ** digits)).padStart(digits, '0');
    const jti = randomUUID();
    const proof = await this.tokens.mint(EMAIL_CODE, userId, { jti, fpr: fingerprint(jti, bound) });
    await this.write(token, { address, subject, mac: macOf(token).sign(code), proof });
    return code;
  }

  /** The request of a token; null for none. @throws StoreUnavailable */
  async find(token: string): Promise<OpenRequest | null> {
    if (token === '') return null;
    const [stored = null] = await this.store.getMany([this.keyOf(token)]);
    const plain = stored === null ? null : new crypto.Encryption([token]).decrypt(stored, CONTEXT);
    if (!plain) return null;
    const { address, subject, mac, proof } = JSON.parse(plain.toString()) as StoredRequest;
    return { address, subject, proof, matches: (code) => macOf(token).verify(code, mac) };
  }

  /** The limit of the guesses at the code of a request. */
  guessesOf(token: string): Limit[] {
    // The period begins with the first guess, possibly before the code is made. It must not end before the code does.
    const rule = { key: token, maxAttempts: TRIES, decaySeconds: 2 * this.secondsStored };
    return [limiter.limit('email-code-guesses', rule)];
  }

  /** The claims of the proof of a request; null if it has expired or was ended. @throws StoreUnavailable */
  async claimsOf({ proof }: OpenRequest): Promise<identity.PurposeClaims | null> {
    return proof === '' ? null : this.tokens.verify(EMAIL_CODE, proof);
  }

  /** Whether the sessions of the user were not ended since the code was made. @throws StoreUnavailable */
  isOutstanding(claims: identity.PurposeClaims): Promise<boolean> {
    return this.tokens.isOutstanding(claims);
  }

  /** Whether the code was made for this password hash and this address. */
  isCurrent({ jti, fpr }: identity.PurposeClaims, bound: Omit<CodeOwner, 'userId'>): boolean {
    return fpr === fingerprint(jti, bound);
  }

  /** Consumes a request. Of several concurrent calls, one returns true. @throws StoreUnavailable */
  async consume(token: string): Promise<boolean> {
    return (await this.store.take(this.keyOf(token))) !== null;
  }

  private async write(token: string, request: StoredRequest): Promise<void> {
    const encrypted = new crypto.Encryption([token]).encrypt(Buffer.from(JSON.stringify(request)), CONTEXT);
    await this.store.setMany([this.keyOf(token)], encrypted, this.secondsStored);
  }

  /** The claims of the proof decide when a code expires. */
  private get secondsStored(): number {
    return this.lifetime + this.realm.options.leeway + identity.CLOCK_MARGIN;
  }

  private keyOf(token: string): string {
    return `svc:email-code:${this.realm.guard}:${crypto.sha256(token)}`;
  }
}

const CONTEXT = 'svc:email-code';

const macOf = (token: string): crypto.Signatures => new crypto.Signatures([token], CONTEXT);

const fingerprint = (jti: string, { digest, email }: Omit<CodeOwner, 'userId'>): string =>
  identity.fingerprintFor(jti, JSON.stringify([digest, email]));
