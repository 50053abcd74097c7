import { NoLoginChallengeIssuer, LoginChallengeIssuer } from '../login/login';
import type { Feature } from '../../foundation/realm/feature';
import { ChallengeAttempts, ChallengeCompletion } from './challenge';
import { LoginChallenges } from './login-challenges';
import { SecondFactorChallengeIssuer } from './second-factors';
import { TwoFactorChallengeController } from './challenge.controller';

/** The challenge after a correct password, at every guard whose login can require a second factor. */
export const loginChallenge: Feature = {
  flags: ['twoFactor', 'passkeys'],
  controllers: [TwoFactorChallengeController],
  providers: [
    LoginChallenges,
    ChallengeAttempts,
    ChallengeCompletion,
    { provide: LoginChallengeIssuer, useClass: SecondFactorChallengeIssuer },
  ],
  whenOff: [{ provide: LoginChallengeIssuer, useClass: NoLoginChallengeIssuer }],
};
