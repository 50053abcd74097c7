import { Controller, Req } from '@nestjs/common';
import { HasherBusy } from '../../identity/password/hash-queue';
import type { Caller } from '../../identity/tokens/caller';
import { CurrentCaller } from '../../request/gates/authenticated';
import { RequestBody } from '../../request/http/request-body';
import { type CallSource, Flow } from '../../request/http/server-call';
import { Route, lockRefusal, signInRefusal } from '../../request/routes/route';
import { RequireIfPinned } from '../sessions/pinned-ability.gate';
import { ConfirmationRequired, WrongPassword } from '../step-up/step-up.errors';
import { ChangePasswordRequest, PasswordChange } from './change-password';

@Controller('password')
export class ChangePasswordController {
  constructor(private readonly change: PasswordChange) {}

  @Route('POST', '', 'password_change', {
    summary: 'Sets a new password with the current one, or a first password with a confirmation',
    note: 'Ends all other sessions.',
    gates: [RequireIfPinned('svc.account')],
    limiter: 'svc-confirm',
    done: 'password-changed',
    refusals: [
      () => new WrongPassword('current_password'),
      ({ confirm }) => new ConfirmationRequired(confirm, []),
      HasherBusy,
      lockRefusal('current_password'),
      signInRefusal,
    ],
  })
  replace(@CurrentCaller() caller: Caller, @RequestBody() body: ChangePasswordRequest, @Req() request: object) {
    return this.change.change(caller, body, request);
  }
}

/** The input of {@link PasswordChangeFlow.change}. */
export interface NewPassword {
  /** Omitted by a user without a password, who needs a confirmation token instead. */
  currentPassword?: string;
  password: string;
}

declare module '../../request/http/server-call' {
  interface Capabilities {
    /** Change of the password of a caller. */
    readonly passwordChange: PasswordChangeFlow;
  }
}

/**
 * Change of the password by its user, for code of the host. Needs `features.changePassword`.
 *
 * @publicApi
 */
export class PasswordChangeFlow extends Flow {
  /**
   * As `POST /password`: replaces the password of the caller and ends all other sessions.
   *
   * @throws Unauthenticated, SignInRefused, WrongPassword, ConfirmationRequired, ValidationFailed, InsufficientScope, AccountIsLocked,
   * TooManyRequests, HasherBusy, StoreUnavailable
   */
  change(input: NewPassword, source: CallSource): Promise<void> {
    const values = { ...input, passwordConfirmation: input?.password };
    return this.call(ChangePasswordController, 'replace', source, values);
  }
}
