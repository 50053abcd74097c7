import { Injectable } from '@nestjs/common';
import { Confirmations } from '../confirmation/confirmations';
import { AccountLockout } from '../lockout/account-lockout';
import { userLock } from '../lockout/lock-key';
import type { Caller } from '../tokens/caller';
import type { AssertionRequest } from './assertion.request';
import { PasskeyAssertions } from './passkey-assertions';
import { PasskeyRefused } from './passkey-refused.exception';

/** `POST /confirm-passkey`: from an own passkey to a proof. Limited, but never locked: there is nothing to guess. */
@Injectable()
export class PasskeyConfirmation {
  constructor(
    private readonly assertions: PasskeyAssertions,
    private readonly confirmations: Confirmations,
    private readonly lockout: AccountLockout,
  ) {}

  /** @throws PasskeyRefused */
  async confirm(
    caller: Caller,
    { ceremony_id: ceremonyId, credential }: AssertionRequest,
  ): Promise<{ confirmation_token: string }> {
    const { userId } = await this.assertions.verify(ceremonyId, credential);
    if (userId !== caller.userId) throw new PasskeyRefused('not_yours');
    await this.lockout.release([userLock('confirm', userId)]);
    return { confirmation_token: this.confirmations.mint(caller) };
  }
}
