import { Controller } from '@nestjs/common';
import type { GuardConfig } from '../../foundation/config/auth-config';
import { type AuthException, Unauthenticated } from '../../foundation/platform/errors';
import { HasherBusy } from '../../identity/password/hash-queue';
import { type Caller, callerIn } from '../../identity/tokens/caller';
import { CurrentCaller } from '../../request/gates/authenticated';
import { RequestBody } from '../../request/http/request-body';
import { type CallSource, Flow } from '../../request/http/server-call';
import { Route, lockRefusal } from '../../request/routes/route';
import { TooManyFailures } from '../../request/throttling/throttling.errors';
import { WrongCode } from '../login-challenge/challenge';
import { PinnedAbilityGate, RequireIfPinned } from '../sessions/pinned-ability.gate';
import { CONFIRMATION_BODY, Confirmations } from './confirmations';
import { ConfirmPasswordRequest, PasswordConfirmation } from './password-confirmation';
import { PasskeyConfirmationRequired, WrongPassword } from './step-up.errors';

/** The refusals of the second factor beside the password. */
const factorRefusals = (options: GuardConfig): AuthException[] =>
  options.confirm.factors === 'all'
    ? [
        new PasskeyConfirmationRequired(),
        new WrongCode(),
        new TooManyFailures('code', 60),
        ...lockRefusal('code')(options),
      ]
    : [];

@Controller('confirm-password')
export class ConfirmPasswordController {
  constructor(private readonly confirmation: PasswordConfirmation) {}

  @Route('POST', '', 'confirm_password', {
    summary: 'Proves with the password that the user is there',
    gates: [RequireIfPinned('svc.account')],
    limiter: 'svc-confirm',
    answer: CONFIRMATION_BODY,
    refusals: [() => new WrongPassword('password'), HasherBusy, lockRefusal('password'), factorRefusals],
  })
  confirm(@CurrentCaller() caller: Caller, @RequestBody() body: ConfirmPasswordRequest) {
    return this.confirmation.confirm(caller, body);
  }
}

declare module '../../request/http/server-call' {
  interface Capabilities {
    /** Step-up with the password. */
    readonly confirmation: ConfirmationFlow;
  }
}

/**
 * Step-up with the password, for code of the host. `PasskeyFlow.confirm` is the same with a passkey, and `Auth.confirm` is
 * for every other proof of the identity.
 *
 * @publicApi
 */
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
    const values = { password, code, recoveryCode };
    return (await this.call(ConfirmPasswordController, 'confirm', source, values)).confirmation_token;
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
