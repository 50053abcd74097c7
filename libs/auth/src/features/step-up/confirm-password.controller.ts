import { Controller } from '@nestjs/common';
import type { GuardConfig } from '../../foundation/config/auth-config';
import { type AuthException, Unauthenticated } from '../../foundation/platform/errors';
import type { Feature } from '../../foundation/realm/feature';
import { HasherBusy } from '../../identity/password/hash-queue';
import { type Caller, callerIn } from '../../identity/tokens/caller';
import { CurrentCaller } from '../../request/gates/authenticated';
import { RequestBody } from '../../request/http/request-body';
import { type CallSource, Flow } from '../../request/http/server-call';
import { Route, lockRefusal } from '../../request/routes/route';
import { TooManyFailures } from '../../request/throttling/throttling.errors';
import { UsedCode, WrongCode, factorsOf } from '../login-challenge/second-factor';
import { PinnedAbilityGate, RequireIfPinned } from '../sessions/pinned-ability.gate';
import { CONFIRMATION_BODY, Confirmations } from './confirmations';
import { ConfirmationFactors } from './confirmation-factors';
import { ConfirmPasswordRequest, CurrentPassword } from './password-confirmation';
import { WrongPassword } from './step-up.errors';

/** The refusals of the second factor beside the password. */
const factorRefusals = (options: GuardConfig, manifests: readonly Feature[]): AuthException[] =>
  options.confirm.factors === 'all'
    ? [
        ...factorsOf(manifests).flatMap(({ confirmsAlone }) => confirmsAlone?.refusal() ?? []),
        new WrongCode(),
        new UsedCode(),
        new TooManyFailures('code', { limit: 5, retryAfter: 60 }),
        ...lockRefusal('code')(options),
      ]
    : [];

@Controller('confirm-password')
export class ConfirmPasswordController {
  constructor(
    private readonly currentPassword: CurrentPassword,
    private readonly factors: ConfirmationFactors,
    private readonly confirmations: Confirmations,
  ) {}

  @Route('POST', '', 'confirm_password', {
    summary: 'Proves with the password that the user is there',
    gates: [RequireIfPinned('svc.account')],
    limiter: 'svc-confirm',
    answer: CONFIRMATION_BODY,
    refusals: [() => new WrongPassword('password'), HasherBusy, lockRefusal('password'), factorRefusals],
  })
  async confirm(@CurrentCaller() caller: Caller, @RequestBody() body: ConfirmPasswordRequest) {
    // A second factor is consumed only after the password was verified. A failure of either stays counted until both are right.
    const beside = await this.factors.besidePassword(caller.userId, body);
    const digest = await this.currentPassword.verify(caller.userId, body.password, 'password', beside);
    // Bound to the hash that was checked: the token of a password that is replaced meanwhile is not valid.
    return { confirmation_token: await this.confirmations.mint(caller, digest) };
  }
}

declare module '../../request/http/server-call' {
  interface Capabilities {
    /** Step-up with the password. */
    readonly confirmation: ConfirmationFlow;
  }
}

/** The second factor beside the password. Each feature adds its answers, by merging into this interface. */
export interface FactorBesidePassword {}

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
   * @throws Unauthenticated, WrongPassword, WrongCode, UsedCode, TooManyFailures, InsufficientScope, AccountIsLocked, TooManyRequests, HasherBusy, ValidationFailed,
   * StoreUnavailable
   */
  async byPassword(password: string, source: CallSource, factor: FactorBesidePassword = {}): Promise<string> {
    return (await this.call(ConfirmPasswordController, 'confirm', source, { ...factor, password })).confirmation_token;
  }

  /**
   * Issues a confirmation token to a caller whose identity the host has confirmed: see `Auth.confirm`.
   *
   * @throws Unauthenticated for the caller of another guard and for one whose token has expired, InsufficientScope, StoreUnavailable
   */
  async issue(caller: Caller): Promise<string> {
    const own = callerIn(caller, this.scope.realm.guard);
    if (!own) throw new Unauthenticated(false);
    this.get(Confirmations).requireCurrent(own);
    await this.get(PinnedAbilityGate).require(own, { abilities: ['svc.account'], met: 'some', always: false });
    return this.get(Confirmations).mint(own);
  }
}
