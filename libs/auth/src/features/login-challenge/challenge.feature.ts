import { NoLoginChallengeIssuer, LoginChallengeIssuer } from '../login/second-step';
import type { Feature } from '../../foundation/realm/feature';
import { ChallengeAttempts, ChallengeCompletion } from './challenge';
import { LoginChallenges } from './challenge-tokens';
import { SecondFactorChallengeIssuer } from './required-second-step';
import { TwoFactorChallengeController } from './challenge.controller';

/** The challenge between a right password and a session, at every guard whose login can ask for it. */
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
