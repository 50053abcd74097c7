import {
  Controller,
  Delete,
  Get,
  HttpCode,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  Param,
  Patch,
  Post,
  Req,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import type { Caller } from '../../identity/tokens/caller';
import { RequireIfPinned } from '../sessions/pinned-ability.gate';
import { Authenticated, CurrentCaller, Public } from '../../request/gates/authenticated';
import { OptionalText, RequestBody, RequiredObject } from '../../request/http/request-body';
import type { SessionTokens } from '../../request/http/route.interceptor';
import { DeliversTokens, NoStore } from '../../request/http/route.interceptor';
import { Throttled } from '../../request/throttling/limiters';
import { Unlimited } from '../../foundation/realm/feature';
import { RequireConfirmation } from '../step-up/require-confirmation';
import { ConditionalCreate } from './conditional-create';
import { PasskeyAssertions } from './passkey-assertions';
import { PasskeyManagement, PasskeyEnrolment } from './passkey-enrolment';
import { AssertionRequest, PasskeyConfirmation, PasskeyLogin } from './passkey-login';
import { CREDENTIAL_ID_MAX } from './webauthn/responses';

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
  @Unlimited('it reads the passkeys of the caller, which are limited in number')
  list(@CurrentCaller() { userId }: Caller) {
    return this.passkeys.list(userId);
  }

  @Patch(':svcPasskey')
  @HttpCode(204)
  @Authenticated()
  @RequireConfirmation()
  @Unlimited('it changes one row of the caller')
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
  @Unlimited('it removes a passkey of the caller, which has to be added again before')
  remove(@CurrentCaller() caller: Caller, @Param('svcPasskey') id: string): Promise<void> {
    return this.passkeys.remove(caller, id);
  }
}

/** The limits of Fastify's router. The newer versions have them in `routerOptions`, the older ones at the top. */
interface RouterLimits {
  readonly maxParamLength?: number;
  readonly routerOptions?: { readonly maxParamLength?: number };
}

/** The maximum length of a path parameter without an option of Fastify. */
const FASTIFY_DEFAULT = 100;

/** The length of a path parameter that Fastify accepts. Each of the two places has the default where it is not set. Pure. */
export function paramLengthOf({ maxParamLength, routerOptions }: RouterLimits): number {
  const set = [routerOptions?.maxParamLength, maxParamLength].find((length) => length && length !== FASTIFY_DEFAULT);
  return set ?? FASTIFY_DEFAULT;
}

/** Warns at boot when Fastify refuses the paths of passkeys with long ids: their owners could not delete them. */
@Injectable()
export class PasskeyPaths implements OnApplicationBootstrap {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  onApplicationBootstrap(): void {
    const { httpAdapter } = this.adapterHost;
    if (!this.config.routes || httpAdapter?.getType() !== 'fastify') return;
    const { initialConfig = {} } = httpAdapter.getInstance<{ initialConfig?: RouterLimits }>();
    const length = paramLengthOf(initialConfig);
    if (length >= CREDENTIAL_ID_MAX) return;
    new Logger('Auth').warn(
      `Fastify answers 414 to path parameters of more than ${length} characters, and ids of passkeys may have ` +
        `${CREDENTIAL_ID_MAX}: such a passkey can be added, but neither renamed nor deleted. ` +
        `Set new FastifyAdapter({ routerOptions: { maxParamLength: ${CREDENTIAL_ID_MAX} } }).`,
    );
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
  @Throttled('svc-passkey-setup')
  @RequireConfirmation()
  options(@CurrentCaller() caller: Caller) {
    return this.enrolment.options(caller);
  }

  @Post()
  @HttpCode(204)
  @Authenticated()
  @Throttled('svc-passkey-setup')
  @RequireConfirmation()
  register(
    @CurrentCaller() caller: Caller,
    @RequestBody(RegistrationRequest) { credential, name }: RegistrationRequest,
  ): Promise<void> {
    return this.enrolment.register(caller, credential, name);
  }
}

@Controller('passkeys')
export class ConditionalCreateController {
  constructor(private readonly conditional: ConditionalCreate) {}

  @Post('conditional-options')
  @HttpCode(200)
  @NoStore()
  @Authenticated()
  @Throttled('svc-passkey-setup')
  options(@CurrentCaller() caller: Caller) {
    return this.conditional.options(caller);
  }

  @Post('conditional')
  @HttpCode(204)
  @Authenticated()
  @Throttled('svc-passkey-setup')
  register(
    @CurrentCaller() caller: Caller,
    @RequestBody(RegistrationRequest) { credential, name }: RegistrationRequest,
  ): Promise<void> {
    return this.conditional.register(caller, credential, name);
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
