import { OptionalText, RequiredString } from '../http/fields';

/** Body of `POST /two-factor-challenge`. */
export class TwoFactorChallengeRequest {
  @RequiredString()
  challenge_token!: string;

  @OptionalText()
  code: string | null = null;

  @OptionalText()
  recovery_code: string | null = null;
}
