import { Injectable } from '@nestjs/common';
import { AccountLockout } from '../lockout/account-lockout';
import { userLock } from '../lockout/lock-key';
import type { Caller } from '../tokens/caller';
import { Confirmations } from './confirmations';
import { OwnPassword } from './own-password';

/** `POST /confirm-password`: from the own password to a proof. */
@Injectable()
export class PasswordConfirmation {
  constructor(
    private readonly ownPassword: OwnPassword,
    private readonly lockout: AccountLockout,
    private readonly confirmations: Confirmations,
  ) {}

  /** @throws AccountIsLocked, WrongPassword */
  async confirm(caller: Caller, password: string): Promise<{ confirmation_token: string }> {
    await this.ownPassword.prove(caller.userId, password, 'password');
    await this.lockout.release([userLock('confirm', caller.userId)]);
    return { confirmation_token: this.confirmations.mint(caller) };
  }
}
