import { RequiredText } from '../http/fields';
import { NewPasswordRequest } from '../http/new-password.request';

/** Body of `POST /password`. */
export class ChangePasswordRequest extends NewPasswordRequest {
  @RequiredText()
  current_password!: string;
}
