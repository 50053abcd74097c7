import { Inject, Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { Signatures } from '../../foundation/platform/crypto';
import type { PurposeClaims } from '../../identity/tokens/purpose-token.policy';
import { type Purpose, PurposeTokens } from '../../identity/tokens/purpose-tokens';
import type { SignInOrigin } from '../sessions/session.entity';
import type { SignInEnding } from '../sessions/sign-in';

export const LOGIN_CHALLENGE: Purpose = {
  type: '2fa+challenge',
  lifetime: ({ twoFactor }) => twoFactor.challengeTtl,
  isChallenge: true,
};

export const ENROLMENT: Purpose = {
  type: '2fa+enrolment',
  lifetime: ({ twoFactor }) => twoFactor.enrolmentTtl,
  isChallenge: true,
};

/**
 * Issues and verifies the tokens that prove a correct password. A token can be used once, only at its guard, and only
 * until the password changes or the sessions of its user are ended.
 */
@Injectable()
export class LoginChallenges {
  protected readonly purpose = LOGIN_CHALLENGE;
  private readonly fingerprints: Signatures;

  constructor(
    readonly tokens: PurposeTokens,
    @Inject(AUTH_CONFIG) { encryption: { key, previousKeys } }: AuthConfig,
  ) {
    this.fingerprints = new Signatures(key === undefined ? [] : [key, ...previousKeys], 'svc:login-challenge');
  }

  /**
   * Issues a challenge token.
   *
   * @param digest the hash that the password matched
   * @param ending the sign-in: its first method, and how the session that completes the challenge starts
   * @throws StoreUnavailable
   */
  async mint(
    userId: string,
    digest: string | null,
    { methods: [first], remember, origin }: Pick<SignInEnding, 'methods' | 'remember' | 'origin'>,
  ): Promise<string> {
    const jti = randomUUID();
    const fpr = this.fingerprints.sign(fingerprinted(jti, digest));
    const asked = {
      ...(!remember && { rem: false as const }),
      ...(first !== 'pwd' && { fst: first as PurposeClaims['fst'] }),
      ...(origin && { org: claimOf(origin) }),
    };
    return this.tokens.mint(this.purpose, userId, { jti, fpr, ...asked });
  }

  /** Returns the claims; null for an invalid, expired or used token and for a token of another guard. */
  verify(token: string): Promise<PurposeClaims | null> {
    return this.tokens.verify(this.purpose, token);
  }

  /** Whether the stored hash is still the one that the password matched. */
  isCurrent({ jti, fpr }: PurposeClaims, stored: string | null): boolean {
    return fpr !== undefined && this.fingerprints.verify(fingerprinted(jti, stored), fpr);
  }
}

/** The same for the tokens with which a user without a second factor sets one up. A token of one kind is not of the other. */
@Injectable()
export class EnrolmentTokens extends LoginChallenges {
  protected override readonly purpose = ENROLMENT;
}

const claimOf = ({ since, id, person, session }: SignInOrigin): NonNullable<PurposeClaims['org']> =>
  session === undefined ? [since, id, person] : [since, id, person, session];

/** What a challenge keeps of the sign-in that it completes. */
export const begunSignIn = ({
  fst,
  rem,
  org,
}: PurposeClaims): Pick<SignInEnding, 'remember' | 'origin'> & { readonly first: string } => ({
  first: fst ?? 'pwd',
  remember: rem ?? true,
  origin: org && { since: org[0], id: org[1], person: org[2], session: org[3] },
});

/** Includes the challenge's id, so that the fingerprints of two challenges do not show whether the hash is the same. */
const fingerprinted = (jti: string, digest: string | null): string => JSON.stringify([jti, digest]);
