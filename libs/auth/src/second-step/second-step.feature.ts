import { NoSecondStep, SecondStep } from '../login/second-step';
import type { Feature } from '../realm/feature';
import { ChallengeAttempts } from './challenge-attempts';
import { ChallengeCompletion } from './challenge-completion';
import { LoginChallenges } from './login-challenges';
import { RequiredSecondStep } from './required-second-step';
import { TwoFactorChallengeController } from './two-factor-challenge.controller';

/** The challenge between a right password and a session, at every guard whose login can ask for it. */
export const secondStep: Feature = {
  flags: ['twoFactor', 'passkeys'],
  controllers: [TwoFactorChallengeController],
  providers: [
    LoginChallenges,
    ChallengeAttempts,
    ChallengeCompletion,
    { provide: SecondStep, useClass: RequiredSecondStep },
  ],
  whenOff: [{ provide: SecondStep, useClass: NoSecondStep }],
};
