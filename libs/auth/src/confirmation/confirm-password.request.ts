import { RequiredText } from '../http/fields';

/** Body of `POST /confirm-password`. */
export class ConfirmPasswordRequest {
  @RequiredText()
  password!: string;
}
