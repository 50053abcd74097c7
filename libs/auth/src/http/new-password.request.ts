import { OptionalText, RequiredText } from './fields';

/** The part of a body that chooses a password. Whether it is accepted is the password rules' to say. */
export abstract class NewPasswordRequest {
  @RequiredText()
  password!: string;

  @OptionalText()
  password_confirmation: string | null = null;
}
