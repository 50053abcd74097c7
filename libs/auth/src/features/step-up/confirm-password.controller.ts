import { type CallSource, Flow, type ServerRequest } from '../../request/http/server-call';
import { Controller, HttpCode, Injectable, Post } from '@nestjs/common';
import { Unauthenticated } from '../../foundation/platform/errors';
import { type Caller, callerIn } from '../../identity/tokens/caller';
import { PinnedAbilityGate, RequireIfPinned } from '../sessions/pinned-ability.gate';
import { Authenticated, CurrentCaller } from '../../request/gates/authenticated';
import { RequestBody } from '../../request/http/request-body';
import { NoStore } from '../../request/http/route.interceptor';
import { Throttled } from '../../request/throttling/limiters';
import { Confirmations } from './confirmations';
import { ConfirmPasswordRequest, PasswordConfirmation } from './password-confirmation';

@Controller('confirm-password')
export class ConfirmPasswordController {
  constructor(private readonly confirmation: PasswordConfirmation) {}

  @Post()
  @HttpCode(200)
  @NoStore()
  @Authenticated()
  @RequireIfPinned('svc.account')
  @Throttled('svc-confirm')
  confirm(@CurrentCaller() caller: Caller, @RequestBody(ConfirmPasswordRequest) body: ConfirmPasswordRequest) {
    return this.confirmation.confirm(caller, body);
  }
}

/**
 * Step-up with the password, for code of the host. `PasskeyFlow.confirm` is the same with a passkey, and `Auth.confirm` is
 * for every other proof of the identity.
 *
 * @publicApi
 */
@Injectable()
export class ConfirmationFlow extends Flow {
  /**
   * As `POST /confirm-password`: returns a confirmation token for the session of the caller.
   *
   * @param factor the second factor beside the password, with `confirm.factors: 'all'`
   * @throws Unauthenticated, WrongPassword, WrongCode, TooManyFailures, InsufficientScope, AccountIsLocked, TooManyRequests, HasherBusy, ValidationFailed,
   * StoreUnavailable
   */
  async byPassword(
    password: string,
    source: CallSource,
    { code, recoveryCode }: { code?: string; recoveryCode?: string } = {},
  ): Promise<string> {
    const confirm = async (caller: Caller, request: ServerRequest): Promise<string> => {
      const given = this.read(ConfirmPasswordRequest, request);
      const { confirmation_token: token } = await this.get(PasswordConfirmation).confirm(caller, given);
      return token;
    };
    return this.callAs(ConfirmPasswordController, 'confirm', source, confirm, {
      password,
      code,
      recovery_code: recoveryCode,
    });
  }

  /**
   * Issues a confirmation token to a caller whose identity the host has confirmed: see `Auth.confirm`.
   *
   * @throws Unauthenticated for the caller of another guard, InsufficientScope, StoreUnavailable
   */
  async issue(caller: Caller): Promise<string> {
    const own = callerIn(caller, this.scope.realm.guard);
    if (!own) throw new Unauthenticated(false);
    await this.get(PinnedAbilityGate).require(own, { abilities: ['svc.account'], met: 'some', always: false });
    return this.get(Confirmations).mint(own);
  }
}
