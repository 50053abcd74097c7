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

/** The purposes, by the `typ` header that keeps one from passing for another (RFC 8725 §3.11). */
export const CONFIRMATION = 'reauth+challenge';
export const LOGIN_CHALLENGE = '2fa+challenge';

export type Purpose = typeof CONFIRMATION | typeof LOGIN_CHALLENGE;

/** What a token is bound to. */
export type Binding = Partial<Pick<PurposeClaims, 'jti' | 'fid' | 'fpr' | 'sto'>>;

/** Signed proofs for one purpose of the realm: neither is an access token, nor is an access token one of them. */
@Injectable()
export class PurposeTokens {
  constructor(
    private readonly keyring: Keyring,
    private readonly store: SecurityStore,
    private readonly continuity: StoreContinuity,
    private readonly realm: Realm,
    private readonly clock: Clock,
  ) {}

  /** @param binding what it is bound to besides its user; an id of its own, unless one is given */
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

  /** The claims of a token of this purpose that is current and not spent; null for everything else. @throws StoreUnavailable */
  async verify(purpose: Purpose, token: string): Promise<PurposeClaims | null> {
    const preparing = prepareKey(this.keyring, token);
    if (preparing) await preparing;
    const jws = verifyJws(this.keyring, token);
    if (!jws) return null;
    const { issuer, audience, leeway } = this.realm.options;
    const longest = this.lifetimeOf(purpose);
    const expected = { type: purpose, issuer, audience, leeway, longest, guard: this.realm.guard };
    if (!isPurposeToken(jws.header, jws.claims, expected, this.clock.seconds())) return null;
    // Spent is spent, also where `features.denylist` leaves access tokens alone.
    const { jti, sto } = jws.claims;
    const { values, continuity } = await this.continuity.read([tokenKey(jti)]);
    return values[0] === null && (sto === undefined || sto === continuity) ? jws.claims : null;
  }

  /** Uses a token up; false where it is already, or where the store cannot know. Of many at once, one. */
  async spend({ jti, exp, sto }: PurposeClaims): Promise<boolean> {
    const remaining = exp - this.clock.seconds() + this.realm.options.leeway;
    if (!(await this.store.add(tokenKey(jti), 'true', Math.max(1, remaining) + CLOCK_MARGIN))) return false;
    // Looked for again: the store may have been lost since it was verified, and with it that it was spent.
    return sto === undefined || sto === (await this.continuity.read([])).continuity;
  }

  /** Takes {@link spend} back. */
  async restore({ jti }: PurposeClaims): Promise<void> {
    await this.store.take(tokenKey(jti));
  }

  /** Seconds. */
  private lifetimeOf(purpose: Purpose): number {
    const { twoFactor, confirm } = this.realm.options;
    return purpose === LOGIN_CHALLENGE ? twoFactor.challengeTtl : confirm.ttl;
  }
}
