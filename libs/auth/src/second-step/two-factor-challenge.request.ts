import { OptionalObject, OptionalText, RequiredString } from '../http/fields';

/** Body of `POST /two-factor-challenge`: the challenge, and one second factor. */
export class TwoFactorChallengeRequest {
  @RequiredString()
  challenge_token!: string;

  @OptionalText()
  code: string | null = null;

  @OptionalText()
  recovery_code: string | null = null;

  @OptionalText()
  ceremony_id: string | null = null;

  @OptionalObject()
  credential: object | null = null;
}
