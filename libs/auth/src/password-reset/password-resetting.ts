import { Injectable } from '@nestjs/common';
import { AuthEvents } from '../kernel/auth-events';
import { PasswordReplacement } from '../login/password-replacement';
import { PasswordHasher } from '../password/password-hasher';
import { PasswordRules } from '../password/password-rules';
import { Handover } from './handover';
import { PasswordReset } from './password-reset.event';
import { ResetFailed } from './reset-failed.exception';
import type { ResetPasswordRequest } from './reset-password.request';
import { type Redeemed, ResetTokens } from './reset-tokens';

/** `POST /reset-password`: from a mailed token to another password. Signs nobody in. */
@Injectable()
export class PasswordResetting {
  constructor(
    private readonly rules: PasswordRules,
    private readonly hasher: PasswordHasher,
    private readonly tokens: ResetTokens,
    private readonly replacement: PasswordReplacement,
    private readonly handover: Handover,
    private readonly events: AuthEvents,
  ) {}

  /** @throws ValidationFailed before anything is looked up; ResetFailed, the same for every reason */
  async reset(wanted: ResetPasswordRequest): Promise<void> {
    await this.rules.accept(wanted, [wanted.email]);
    // First, whatever comes: the hash costs the same, and a server too busy for it uses no token up.
    const digest = await this.hasher.hash(wanted.password);
    const redeemed = await this.tokens.redeem(wanted.email, wanted.token);
    if (!redeemed || !(await this.replace(redeemed, wanted.password, digest))) throw new ResetFailed();
    this.events.emit(new PasswordReset(redeemed.account.user));
  }

  /** Whoever is told that it failed may try again with the same link. */
  private async replace({ account, restore }: Redeemed, password: string, digest: string): Promise<boolean> {
    const { userId, identifier } = account;
    // Known only now, and told to nobody but the holder of the link.
    const fault = this.rules.faultOfNames(password, [identifier]);
    if (fault) {
      await restore();
      throw fault;
    }
    const endSessions = (): Promise<void> => this.handover.make(account);
    const finish = (): Promise<void> => this.handover.prove(account);
    return this.replacement.make({ userId, digest, endSessions, finish, undo: restore });
  }
}
