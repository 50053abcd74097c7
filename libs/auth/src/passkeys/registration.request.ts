import { OptionalText, RequiredObject } from '../http/fields';

/** Body of `POST /passkeys`. */
export class RegistrationRequest {
  @RequiredObject()
  credential!: object;

  @OptionalText()
  name: string | null = null;
}
