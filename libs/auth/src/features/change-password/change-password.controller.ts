import { Controller, Injectable, Req } from '@nestjs/common';
import { HasherBusy } from '../../identity/password/hash-queue';
import type { Caller } from '../../identity/tokens/caller';
import { CurrentCaller } from '../../request/gates/authenticated';
import { RequestBody } from '../../request/http/request-body';
import { type CallSource, Flow } from '../../request/http/server-call';
import { Route, lockRefusal, signInRefusal, status } from '../../request/routes/route';
import { RequireIfPinned } from '../sessions/pinned-ability.gate';
import { ConfirmationRequired, WrongPassword } from '../step-up/step-up.errors';
import { ChangePasswordRequest, PasswordChange } from './change-password';

declare module '../../foundation/platform/catalogue' {
  interface Operations {
    password_change: true;
  }
}

@Controller('password')
export class ChangePasswordController {
  constructor(private readonly change: PasswordChange) {}

  @Route('POST', '', {
    operation: 'password_change',
    summary: 'Sets a new password with the current one, or a first password with a confirmation',
    note: 'Ends all other sessions.',
    gates: [RequireIfPinned('svc.account')],
    limiter: 'svc-confirm',
    answer: status('password-changed'),
    refusals: (options) => [
      new WrongPassword('current_password'),
      new ConfirmationRequired(options.confirm, []),
      new HasherBusy(),
      ...lockRefusal('current_password', options),
      ...signInRefusal(options),
    ],
  })
  async replace(
    @CurrentCaller() caller: Caller,
    @RequestBody(ChangePasswordRequest) body: ChangePasswordRequest,
    @Req() request: object,
  ): Promise<{ status: string }> {
    await this.change.change(caller, body, request);
    return { status: 'password-changed' };
  }
}

/** The input of {@link PasswordChangeFlow.change}. */
export interface NewPassword {
  /** Omitted by a user without a password, who needs a confirmation token instead. */
  currentPassword?: string;
  password: string;
}

/**
 * Change of the password by its user, for code of the host. Needs `features.changePassword`.
 *
 * @publicApi
 */
@Injectable()
export class PasswordChangeFlow extends Flow {
  /**
   * As `POST /password`: replaces the password of the caller and ends all other sessions.
   *
   * @throws Unauthenticated, SignInRefused, WrongPassword, ConfirmationRequired, ValidationFailed, InsufficientScope, AccountIsLocked,
   * TooManyRequests, HasherBusy, StoreUnavailable
   */
  async change(input: NewPassword, source: CallSource): Promise<void> {
    const body = { ...input, passwordConfirmation: input?.password };
    await this.call(ChangePasswordController, 'replace', source, { input: body });
  }
}
