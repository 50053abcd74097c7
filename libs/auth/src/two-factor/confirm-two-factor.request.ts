import { OptionalText } from '../http/fields';

/** Body of `POST /two-factor/confirm`. A missing code is a wrong one. */
export class ConfirmTwoFactorRequest {
  @OptionalText()
  code: string | null = null;
}
