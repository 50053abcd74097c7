import { OptionalText } from '../http/fields';

/** Body of `PATCH /passkeys/:id`. Without a name the passkey has none. */
export class RenameRequest {
  @OptionalText()
  name: string | null = null;
}
