import { OptionalText, UsernameField } from '../http/fields';

/** Body of `POST /login`. Absent credentials are wrong credentials. */
export class LoginRequest {
  @UsernameField()
  @OptionalText()
  identifier: string | null = null;

  @OptionalText()
  password: string | null = null;
}
