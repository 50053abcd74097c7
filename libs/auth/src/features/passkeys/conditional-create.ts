import { Controller, HttpCode, Injectable, Post } from '@nestjs/common';
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server';
import type { Caller } from '../../identity/tokens/caller';
import { Authenticated, CurrentCaller } from '../../request/gates/authenticated';
import { RequestBody } from '../../request/http/request-body';
import { NoStore } from '../../request/http/route.interceptor';
import { Confirmations } from '../step-up/confirmations';
import { PasskeyEnrolment } from './passkey-enrolment';
import { PasskeyStore } from './passkey.store';
import { RegistrationRequest } from './passkeys.controller';
import { PasskeyRefused } from './passkeys.errors';

/**
 * Adds the first passkey of a user, which the browser creates without a question (WebAuthn Level 3 §5.1.3, conditional
 * mediation). A recent login with the password takes the place of the confirmation. Every later use of the passkey verifies
 * the user as `passkeys.userVerification` requires.
 */
@Injectable()
export class ConditionalCreate {
  constructor(
    private readonly enrolment: PasskeyEnrolment,
    private readonly confirmations: Confirmations,
    private readonly store: PasskeyStore,
  ) {}

  /** @throws ConfirmationRequired without a recent login with the password; PasskeyRefused for a user with a passkey */
  async options(caller: Caller): Promise<PublicKeyCredentialCreationOptionsJSON> {
    await this.confirmations.requirePasswordLogin(caller);
    if (await this.store.existsFor(caller.userId)) throw new PasskeyRefused('not_registered');
    return this.enrolment.begin(caller, 'conditional');
  }

  /** @throws ConfirmationRequired, PasskeyRefused; Unauthenticated when the caller's session has ended in the meantime */
  async register(caller: Caller, { credential, name }: RegistrationRequest): Promise<void> {
    await this.confirmations.requirePasswordLogin(caller);
    await this.enrolment.complete(caller, 'conditional', credential, name);
  }
}

@Controller('passkeys')
export class ConditionalCreateController {
  constructor(private readonly conditional: ConditionalCreate) {}

  @Post('conditional-options')
  @HttpCode(200)
  @NoStore()
  @Authenticated()
  options(@CurrentCaller() caller: Caller) {
    return this.conditional.options(caller);
  }

  @Post('conditional')
  @HttpCode(204)
  @Authenticated()
  register(
    @CurrentCaller() caller: Caller,
    @RequestBody(RegistrationRequest) registration: RegistrationRequest,
  ): Promise<void> {
    return this.conditional.register(caller, registration);
  }
}
