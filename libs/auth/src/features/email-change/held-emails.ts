import { Injectable } from '@nestjs/common';

/**
 * The former addresses of changes that can still be undone. One that was not verified is none of them: otherwise an account with
 * the address of another person could prevent that the person registers. A registration cannot take one: otherwise a thief who has changed
 * the address of an account could register the former one, and so prevent the undo. A registration proves no access to the
 * mailbox. A change of email does, so it can take the address.
 */
export abstract class HeldEmails {
  /** The id of the user for whom the address is held; null if it is not. @throws StoreUnavailable */
  abstract holderOf(email: string): Promise<string | null>;
}

/** Used when `features.emailChange` is off: no address is held. */
@Injectable()
export class NoHeldEmails extends HeldEmails {
  async holderOf(): Promise<null> {
    return null;
  }
}
