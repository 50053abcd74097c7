import { RequiredEmail, RequiredText } from '../http/fields';
import { NewPasswordRequest } from '../http/new-password.request';

/** Body of `POST /reset-password`. */
export class ResetPasswordRequest extends NewPasswordRequest {
  @RequiredText()
  token!: string;

  @RequiredEmail()
  email!: string;
}
