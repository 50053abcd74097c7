import { type CallSource, Flow, type ServerRequest } from '../../request/http/server-call';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import { Controller, Delete, Get, HttpCode, Injectable, Param, Patch, Post, Req } from '@nestjs/common';
import type { Caller } from '../../identity/tokens/caller';
import { RequireIfPinned } from '../sessions/pinned-ability.gate';
import { Authenticated, CurrentCaller, Public } from '../../request/gates/authenticated';
import { OptionalText, RequestBody, RequiredObject } from '../../request/http/request-body';
import type { SessionTokens } from '../../request/http/route.interceptor';
import { DeliversTokens, NoStore } from '../../request/http/route.interceptor';
import { Throttled } from '../../request/throttling/limiters';
import { RequireConfirmation } from '../step-up/require-confirmation';
import { PasskeyAssertions } from './passkey-assertions';
import { type PasskeyList, PasskeyManagement, PasskeyEnrolment } from './passkey-enrolment';
import { AssertionRequest, PasskeyConfirmation, PasskeyLogin } from './passkey-login';

/** Body of `PATCH /passkeys/:id`. Without a name, the name of the passkey is removed. */
export class RenameRequest {
  @OptionalText()
  name: string | null = null;
}

@Controller('passkeys')
export class PasskeysController {
  constructor(private readonly passkeys: PasskeyManagement) {}

  @Get()
  @NoStore()
  @Authenticated()
  @RequireIfPinned('svc.account')
  list(@CurrentCaller() { userId }: Caller) {
    return this.passkeys.list(userId);
  }

  @Patch(':svcPasskey')
  @HttpCode(204)
  @Authenticated()
  @RequireConfirmation()
  rename(
    @CurrentCaller() { userId }: Caller,
    @Param('svcPasskey') id: string,
    @RequestBody(RenameRequest) { name }: RenameRequest,
  ): Promise<void> {
    return this.passkeys.rename(userId, id, name);
  }

  @Delete(':svcPasskey')
  @HttpCode(204)
  @Authenticated()
  @RequireConfirmation()
  remove(@CurrentCaller() { userId }: Caller, @Param('svcPasskey') id: string): Promise<void> {
    return this.passkeys.remove(userId, id);
  }
}

/** Body of `POST /passkeys`. */
export class RegistrationRequest {
  @RequiredObject()
  credential!: object;

  @OptionalText()
  name: string | null = null;
}

@Controller('passkeys')
export class PasskeyEnrolmentController {
  constructor(private readonly enrolment: PasskeyEnrolment) {}

  @Post('registration-options')
  @HttpCode(200)
  @NoStore()
  @Authenticated()
  @RequireConfirmation()
  options(@CurrentCaller() caller: Caller) {
    return this.enrolment.options(caller);
  }

  @Post()
  @HttpCode(204)
  @Authenticated()
  @RequireConfirmation()
  register(
    @CurrentCaller() caller: Caller,
    @RequestBody(RegistrationRequest) { credential, name }: RegistrationRequest,
  ): Promise<void> {
    return this.enrolment.register(caller, credential, name);
  }
}

@Controller('passkeys')
export class PasskeyLoginController {
  constructor(
    private readonly assertions: PasskeyAssertions,
    private readonly login: PasskeyLogin,
  ) {}

  /** Options of a login ceremony, also for step-up and for the second factor. The response identifies the user. */
  @Post('login-options')
  @HttpCode(200)
  @NoStore()
  @Public()
  @Throttled('svc-passkeys')
  options() {
    return this.assertions.start();
  }

  @Post('login')
  @Public()
  @Throttled('svc-passkeys')
  @DeliversTokens()
  attempt(@RequestBody(AssertionRequest) assertion: AssertionRequest, @Req() request: object): Promise<SessionTokens> {
    return this.login.attempt(assertion, request);
  }
}

@Controller('confirm-passkey')
export class ConfirmPasskeyController {
  constructor(private readonly confirmation: PasskeyConfirmation) {}

  @Post()
  @HttpCode(200)
  @NoStore()
  @Authenticated()
  @RequireIfPinned('svc.account')
  @Throttled('svc-confirm')
  confirm(@CurrentCaller() caller: Caller, @RequestBody(AssertionRequest) assertion: AssertionRequest) {
    return this.confirmation.confirm(caller, assertion);
  }
}

/** The response of the browser to a login ceremony. */
export interface PasskeyAnswer {
  readonly ceremonyId: string;
  /** The credential as JSON (WebAuthn Level 3 `PublicKeyCredential.toJSON`). */
  readonly credential: object;
}

const assertionBody = (answer: PasskeyAnswer) => ({
  ceremony_id: answer?.ceremonyId,
  credential: answer?.credential,
});

/**
 * Sign-in, step-up and enrolment with passkeys, for code of the host.
 *
 * @publicApi
 */
@Injectable()
export class PasskeyFlow extends Flow {
  protected override readonly feature = 'passkeys';

  /** As `POST /passkeys/login-options`: starts a ceremony for {@link login}, {@link confirm} or a login challenge. */
  async loginOptions(
    source: CallSource,
  ): Promise<{ ceremonyId: string; options: PublicKeyCredentialRequestOptionsJSON }> {
    const assertions = this.get(PasskeyAssertions);
    const started = await this.call(PasskeyLoginController, 'options', source, () => assertions.start());
    return { ceremonyId: started.ceremony_id, options: started.options };
  }

  /**
   * As `POST /passkeys/login`: returns the tokens of a new session.
   *
   * @throws PasskeyRefused, UnverifiedLogin, SignInRefused, Unauthenticated, TooManyRequests, ValidationFailed, StoreUnavailable
   */
  login(answer: PasskeyAnswer, source: CallSource): Promise<SessionTokens> {
    const login = this.get(PasskeyLogin);
    const sign = async (request: ServerRequest): Promise<SessionTokens> =>
      login.attempt(await this.read(AssertionRequest, request), request);
    return this.call(PasskeyLoginController, 'attempt', source, sign, assertionBody(answer));
  }

  /**
   * As `POST /confirm-passkey`: returns a confirmation token for the session of the caller.
   *
   * @throws Unauthenticated, PasskeyRefused, InsufficientScope, TooManyRequests, ValidationFailed, StoreUnavailable
   */
  confirm(answer: PasskeyAnswer, source: CallSource): Promise<string> {
    const confirmation = this.get(PasskeyConfirmation);
    const confirm = async (caller: Caller, request: ServerRequest): Promise<string> =>
      (await confirmation.confirm(caller, await this.read(AssertionRequest, request))).confirmation_token;
    return this.callAs(ConfirmPasskeyController, 'confirm', source, confirm, assertionBody(answer));
  }

  /** As `POST /passkeys/registration-options`. @throws Unauthenticated, ConfirmationRequired, StoreUnavailable */
  registrationOptions(source: CallSource): Promise<PublicKeyCredentialCreationOptionsJSON> {
    const enrolment = this.get(PasskeyEnrolment);
    return this.callAs(PasskeyEnrolmentController, 'options', source, (caller) => enrolment.options(caller));
  }

  /**
   * As `POST /passkeys`: stores a passkey of the caller.
   *
   * @param credential the response of the browser to {@link registrationOptions}, as JSON
   * @throws Unauthenticated, ConfirmationRequired, PasskeyRefused, ValidationFailed, StoreUnavailable
   */
  register(credential: object, source: CallSource, name?: string): Promise<void> {
    const enrolment = this.get(PasskeyEnrolment);
    const register = async (caller: Caller, request: ServerRequest): Promise<void> => {
      const given = await this.read(RegistrationRequest, request);
      await enrolment.register(caller, given.credential, given.name);
    };
    return this.callAs(PasskeyEnrolmentController, 'register', source, register, { credential, name });
  }

  /** As `GET /passkeys`: lists the passkeys of the caller. @throws Unauthenticated, InsufficientScope */
  list(source: CallSource): Promise<PasskeyList> {
    const passkeys = this.get(PasskeyManagement);
    return this.callAs(PasskeysController, 'list', source, ({ userId }) => passkeys.list(userId));
  }

  /** As `PATCH /passkeys/:id`; null removes the name. @throws Unauthenticated, ConfirmationRequired, PasskeyNotFound */
  rename(id: string, name: string | null, source: CallSource): Promise<void> {
    const passkeys = this.get(PasskeyManagement);
    const rename = async ({ userId }: Caller, request: ServerRequest): Promise<void> =>
      passkeys.rename(userId, id, (await this.read(RenameRequest, request)).name);
    return this.callAs(PasskeysController, 'rename', source, rename, { name });
  }

  /** As `DELETE /passkeys/:id`. An unknown id has no effect. @throws Unauthenticated, ConfirmationRequired */
  remove(id: string, source: CallSource): Promise<void> {
    const passkeys = this.get(PasskeyManagement);
    return this.callAs(PasskeysController, 'remove', source, ({ userId }) => passkeys.remove(userId, id));
  }
}
