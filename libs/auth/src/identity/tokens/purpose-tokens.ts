import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { Clock } from '../../foundation/platform/clock';
import { Realm } from '../../foundation/realm/realm';
import { SecurityStore } from '../../foundation/security-store/security-store';
import { CLOCK_MARGIN, tokenKey } from '../denylist/denylist';
import { StoreContinuity } from '../denylist/store-continuity';
import { prepareKey, signJws, verifyJws } from './jws';
import { Keyring } from './keyring';
import { type PurposeClaims, isPurposeToken } from './purpose-token.policy';

/** The purposes of tokens: values of the `typ` header, so that no token is valid for another purpose (RFC 8725 §3.11). */
export const CONFIRMATION = 'reauth+challenge';
export const LOGIN_CHALLENGE = '2fa+challenge';

export type Purpose = typeof CONFIRMATION | typeof LOGIN_CHALLENGE;

/** Claims that bind a token to an id, a session, a password hash or the state of the store. */
export type Binding = Partial<Pick<PurposeClaims, 'jti' | 'fid' | 'fpr' | 'sto'>>;

/** Mints, verifies and spends the realm's single-purpose tokens. Access tokens and these tokens are not interchangeable. */
@Injectable()
export class PurposeTokens {
  constructor(
    private readonly keyring: Keyring,
    private readonly store: SecurityStore,
    private readonly continuity: StoreContinuity,
    private readonly realm: Realm,
    private readonly clock: Clock,
  ) {}

  /** @param binding further claims that bind the token; without a `jti` it gets a random one */
  mint(purpose: Purpose, userId: string, binding: Binding = {}): string {
    const now = this.clock.seconds();
    const { issuer, audience } = this.realm.options;
    return signJws(this.keyring, purpose, {
      iss: issuer,
      aud: [...audience],
      sub: userId,
      jti: randomUUID(),
      iat: now,
      nbf: now,
      exp: now + this.lifetimeOf(purpose),
      gid: this.realm.guard,
      ...binding,
    });
  }

  /** The claims of a valid, unspent token of this purpose, or null. @throws StoreUnavailable */
  async verify(purpose: Purpose, token: string): Promise<PurposeClaims | null> {
    const preparing = prepareKey(this.keyring, token);
    if (preparing) await preparing;
    const jws = verifyJws(this.keyring, token);
    if (!jws) return null;
    const { issuer, audience, leeway } = this.realm.options;
    const longest = this.lifetimeOf(purpose);
    const expected = { type: purpose, issuer, audience, leeway, longest, guard: this.realm.guard };
    if (!isPurposeToken(jws.header, jws.claims, expected, this.clock.seconds())) return null;
    // Spent tokens are checked even while `features.denylist` is off.
    const { jti, sto } = jws.claims;
    const { values, continuity } = await this.continuity.read([tokenKey(jti)]);
    return values[0] === null && (sto === undefined || sto === continuity) ? jws.claims : null;
  }

  /**
   * Marks a token as spent. False if it was spent before, or if the store may have lost that fact. Of concurrent calls,
   * at most one returns true.
   */
  async spend({ jti, exp, sto }: PurposeClaims): Promise<boolean> {
    const remaining = exp - this.clock.seconds() + this.realm.options.leeway;
    if (!(await this.store.add(tokenKey(jti), 'true', Math.max(1, remaining) + CLOCK_MARGIN))) return false;
    // Checked again: the store may have lost its data, including spent tokens, since the token was verified.
    return sto === undefined || sto === (await this.continuity.read([])).continuity;
  }

  /** Reverts {@link spend}. */
  async restore({ jti }: PurposeClaims): Promise<void> {
    await this.store.take(tokenKey(jti));
  }

  /** Lifetime in seconds. */
  private lifetimeOf(purpose: Purpose): number {
    const { twoFactor, confirm } = this.realm.options;
    return purpose === LOGIN_CHALLENGE ? twoFactor.challengeTtl : confirm.ttl;
  }
}
