import { RequiredObject, RequiredText } from '../http/fields';

/** An answered login ceremony: the body of `POST /passkeys/login` and `POST /confirm-passkey`. */
export class AssertionRequest {
  @RequiredText()
  ceremony_id!: string;

  @RequiredObject()
  credential!: object;
}
