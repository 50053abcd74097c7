import { RequiredEmail } from '../http/fields';

/** Body of `POST /forgot-password`. */
export class ForgotPasswordRequest {
  @RequiredEmail()
  email!: string;
}
