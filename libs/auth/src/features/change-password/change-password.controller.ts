import { type CallSource, Flow, type ServerRequest } from '../../request/http/server-call';
import { Controller, HttpCode, Injectable, Post, Req } from '@nestjs/common';
import { RequireIfPinned } from '../sessions/pinned-ability.gate';
import { Authenticated, CurrentCaller } from '../../request/gates/authenticated';
import { RequestBody } from '../../request/http/request-body';
import { NoStore } from '../../request/http/route.interceptor';
import { Throttled } from '../../request/throttling/limiters';
import type { Caller } from '../../identity/tokens/caller';
import { ChangePasswordRequest, PasswordChange } from './change-password';

@Controller('password')
export class ChangePasswordController {
  constructor(private readonly change: PasswordChange) {}

  @Post()
  @HttpCode(200)
  @NoStore()
  @Authenticated()
  @RequireIfPinned('svc.account')
  @Throttled('svc-confirm')
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
  protected override readonly feature = 'changePassword';

  /**
   * As `POST /password`: replaces the password of the caller and ends all other sessions.
   *
   * @throws Unauthenticated, SignInRefused, WrongPassword, ConfirmationRequired, ValidationFailed, InsufficientScope, AccountIsLocked,
   * TooManyRequests, HasherBusy, StoreUnavailable
   */
  async change(input: NewPassword, source: CallSource): Promise<void> {
    const { currentPassword, password } = input ?? {};
    const change = this.get(PasswordChange);
    const body = { current_password: currentPassword, password, password_confirmation: password };
    const replace = async (caller: Caller, request: ServerRequest): Promise<void> =>
      change.change(caller, this.read(ChangePasswordRequest, request), request);
    return this.callAs(ChangePasswordController, 'replace', source, replace, body);
  }
}
