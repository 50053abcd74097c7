import { Controller, Req } from '@nestjs/common';
import { http, identity, session } from '../../kit';
import { PasswordChange } from './change-password';

@Controller('password')
export class ChangePasswordController {
  constructor(private readonly change: PasswordChange) {}

  @http.Route('POST', '', 'password_change', {
    summary: 'Sets a new password with the current one, or a first password with a confirmation',
    note: 'Ends all other sessions.',
    gates: [http.RequireIfPinned('svc.account')],
    limiter: 'svc-confirm',
    done: 'password-changed',
    refusals: [
      () => new session.WrongPassword('current_password'),
      ({ confirm }) => new session.ConfirmationRequired(confirm, []),
      identity.HasherBusy,
      http.lockRefusal('current_password'),
      http.signInRefusal,
    ],
  })
  replace(
    @http.CurrentCaller() caller: identity.Caller,
    @http.RequestBody() body: session.ChangePasswordRequest,
    @Req() request: object,
  ) {
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
export class PasswordChangeFlow extends http.Flow {
  /**
   * As `POST /password`: replaces the password of the caller and ends all other sessions.
   *
   * @throws Unauthenticated, SignInRefused, WrongPassword, ConfirmationRequired, ValidationFailed, InsufficientScope, AccountIsLocked,
   * TooManyRequests, HasherBusy, StoreUnavailable
   */
  change(input: NewPassword, source: http.CallSource): Promise<void> {
    const values = { ...input, passwordConfirmation: input?.password };
    return this.call(ChangePasswordController, 'replace', source, values);
  }
}
