import { Injectable } from '@nestjs/common';
import type { EnrolmentChallenge, LoginChallenge } from '../../foundation/ports/presenter';
import { Realm } from '../../foundation/realm/realm';
import { LoginChallengeIssuer, UnverifiedBlock } from '../login/login';
import { EnrolmentTokens, LoginChallenges } from './login-challenges';
import { RequiredFactors } from './required-factors';
import { CodeFactor, PasskeyFactor } from './second-factors';
import { TrustedDevices } from './trusted-devices';

/**
 * Issues a challenge to users with an enabled second factor, and to users with a passkey if `passkeys.required` or
 * `twoFactor.required` applies. A user without a factor enrols one if `twoFactor.required` applies.
 */
@Injectable()
export class SecondFactorChallengeIssuer extends LoginChallengeIssuer {
  constructor(
    private readonly codes: CodeFactor,
    private readonly passkeys: PasskeyFactor,
    private readonly challenges: LoginChallenges,
    private readonly enrolments: EnrolmentTokens,
    private readonly requiredFactors: RequiredFactors,
    private readonly devices: TrustedDevices,
    private readonly unverified: UnverifiedBlock,
    private readonly realm: Realm,
  ) {
    super();
  }

  async challengeFor(
    user: object,
    userId: string,
    digest: string | null,
  ): Promise<LoginChallenge | EnrolmentChallenge | null> {
    const codes = await this.codes.methodsOf(userId);
    const isRequired = !codes && (await this.requiredFactors.appliesTo(user));
    // An enabled factor without any usable method still requires the challenge: the password alone is not enough.
    if (!codes && !isRequired && !(await this.passkeys.isRequiredOf(user))) return null;
    const hasPasskey = await this.passkeys.isHeldBy(userId);
    if (!codes && !hasPasskey) return isRequired ? this.enrolmentFor(user, userId, digest) : null;
    const methods = [...(codes ?? []), ...(hasPasskey ? ['passkey' as const] : [])];
    return { two_factor: true, challenge_token: await this.challenges.mint(userId, digest), methods };
  }

  private async enrolmentFor(user: object, userId: string, digest: string | null): Promise<EnrolmentChallenge | null> {
    // A person who may not sign in yet must not add a factor to the account.
    if (this.unverified.isBlocked(user)) return null;
    return {
      enrolment_required: true,
      enrolment_token: await this.enrolments.mint(userId, digest),
      expires_in: this.realm.options.twoFactor.enrolmentTtl,
      methods: this.requiredFactors.methods,
    };
  }

  trustOf(userId: string, digest: string | null, sent: string | null, request: object) {
    return this.devices.trustOf(userId, digest, sent, request);
  }
}
