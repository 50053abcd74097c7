import { Inject, Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { Signatures } from '../../foundation/platform/crypto';
import { StoreContinuity } from '../../identity/denylist/store-continuity';
import type { PurposeClaims } from '../../identity/tokens/purpose-token.policy';
import { LOGIN_CHALLENGE, PurposeTokens } from '../../identity/tokens/purpose-tokens';

/**
 * Tokens that say "the password was right", and nothing more: single use, of one guard, and only while that
 * password is the user's.
 */
@Injectable()
export class LoginChallenges {
  private readonly fingerprints: Signatures;

  constructor(
    private readonly tokens: PurposeTokens,
    private readonly continuity: StoreContinuity,
    @Inject(AUTH_CONFIG) { encryption: { key, previousKeys } }: AuthConfig,
  ) {
    this.fingerprints = new Signatures(key === undefined ? [] : [key, ...previousKeys], 'svc:login-challenge');
  }

  /**
   * One that ends with the store: what was forgotten there could be used twice.
   *
   * @param digest the hash that the password was right for
   * @throws StoreUnavailable
   */
  async mint(userId: string, digest: string | null): Promise<string> {
    const jti = randomUUID();
    const fpr = this.fingerprints.sign(printed(jti, digest));
    return this.tokens.mint(LOGIN_CHALLENGE, userId, { jti, fpr, sto: await this.continuity.current() });
  }

  /** Null for what is no challenge of this guard, too old or used up. */
  verify(token: string): Promise<PurposeClaims | null> {
    return this.tokens.verify(LOGIN_CHALLENGE, token);
  }

  /** Whether the password that earned the challenge is the one whose hash is stored. */
  isCurrent({ jti, fpr }: PurposeClaims, stored: string | null): boolean {
    return fpr !== undefined && this.fingerprints.verify(printed(jti, stored), fpr);
  }

  /** Uses a challenge up; false where it is already. Of many at once, one. */
  consume(challenge: PurposeClaims): Promise<boolean> {
    return this.tokens.spend(challenge);
  }

  /** Gives back a challenge that was burned for nothing. */
  restore(challenge: PurposeClaims): Promise<void> {
    return this.tokens.restore(challenge);
  }
}

/** With the challenge's own id: two challenges do not tell whether the hash is the same. */
const printed = (jti: string, digest: string | null): string => JSON.stringify([jti, digest]);
