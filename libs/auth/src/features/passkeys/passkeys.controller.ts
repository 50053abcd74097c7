import { Controller, Inject, Injectable, Logger, type OnApplicationBootstrap, Param, Req } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { type AuthException, Unauthenticated } from '../../foundation/platform/errors';
import { INTEGER, TEXT, listOf, namedSchema, of, orNull, record } from '../../foundation/platform/schema';
import type { Caller } from '../../identity/tokens/caller';
import { CurrentCaller } from '../../request/gates/authenticated';
import { FIELD_MAX, OptionalText, RequestBody, RequiredObject } from '../../request/http/request-body';
import type { SessionTokens } from '../../request/http/route.interceptor';
import { Route, signInRefusal, tokenPair } from '../../request/routes/route';
import { unverifiedRefusal } from '../login/login.controller';
import { lastFactorRefusal } from '../login-challenge/required-factors';
import { RequireIfPinned } from '../sessions/pinned-ability.gate';
import { CONFIRMATION_BODY } from '../step-up/confirmations';
import { RequireConfirmation } from '../step-up/require-confirmation';
import { ConfirmationRequired } from '../step-up/step-up.errors';
import { ConditionalCreate } from './conditional-create';
import { PasskeyAssertions } from './passkey-assertions';
import { PasskeyManagement, PasskeyEnrolment } from './passkey-enrolment';
import { AssertionRequest, PasskeyConfirmation, PasskeyLogin } from './passkey-login';
import { CREATION_OPTIONS, REQUEST_OPTIONS, ceremonyWith } from './webauthn/options';
import type { ListedPasskey, PasskeyList } from './passkey.entity';
import { LastPasskey, PasskeyNotFound, PasskeyRefused } from './passkeys.errors';
import { CREDENTIAL_ID_MAX } from './webauthn/responses';

/** Body of `PATCH /passkeys/:id`. Without a name, the name of the passkey is removed. */
export class RenameRequest {
  @OptionalText()
  name: string | null = null;
}

const PASSKEY = namedSchema(
  'AuthPasskey',
  record<ListedPasskey>({
    id: TEXT,
    name: orNull(TEXT),
    last_used_at: orNull(of(INTEGER, 'Unix seconds.')),
  }),
);

const notRegistered = (): AuthException => new PasskeyRefused('not_registered');
const notVerified = (): AuthException => new PasskeyRefused('not_verified');

const PARAMETERS = { svcPasskey: of({ ...TEXT, maxLength: FIELD_MAX }, 'The id of a passkey.') };

@Controller('passkeys')
export class PasskeysController {
  constructor(private readonly passkeys: PasskeyManagement) {}

  @Route('GET', '', 'passkeys_list', {
    summary: 'Lists the passkeys of the caller',
    gates: [RequireIfPinned('svc.account')],
    unlimited: 'it reads the passkeys of the caller, which are limited in number',
    answer: record<PasskeyList>({
      passkeys: listOf(PASSKEY),
      rp_id: TEXT,
      user_handle: TEXT,
      all_accepted_credential_ids: listOf(TEXT),
    }),
    quiet: true,
  })
  list(@CurrentCaller() { userId }: Caller) {
    return this.passkeys.list(userId);
  }

  @Route('PATCH', ':svcPasskey', 'passkey_rename', {
    summary: 'Names a passkey',
    note: 'A passkey of another user is 404.',
    parameters: PARAMETERS,
    gates: [RequireConfirmation()],
    unlimited: 'it changes one row of the caller',
    refusals: [PasskeyNotFound],
  })
  rename(@CurrentCaller() { userId }: Caller, @Param('svcPasskey') id: string, @RequestBody() { name }: RenameRequest) {
    return this.passkeys.rename(userId, id, name);
  }

  @Route('DELETE', ':svcPasskey', 'passkey_delete', {
    summary: 'Deletes a passkey',
    note: 'Answers 409 for the last passkey of a user without a password (`passkeys.keepLast`).',
    parameters: PARAMETERS,
    gates: [RequireConfirmation()],
    unlimited: 'it removes a passkey of the caller, which has to be added again before',
    refusals: [lastFactorRefusal, ({ passkeys }) => (passkeys.keepLast === false ? [] : new LastPasskey())],
  })
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

  @Route('POST', 'registration-options', 'passkey_register_options', {
    summary: 'Begins to set up a passkey',
    gates: [RequireConfirmation()],
    limiter: 'svc-passkey-setup',
    answer: CREATION_OPTIONS,
    quiet: true,
  })
  options(@CurrentCaller() caller: Caller) {
    return this.enrolment.options(caller);
  }

  @Route('POST', '', 'passkey_register', {
    summary: 'Stores a passkey',
    gates: [RequireConfirmation()],
    limiter: 'svc-passkey-setup',
    refusals: [notRegistered, signInRefusal],
  })
  register(@CurrentCaller() caller: Caller, @RequestBody() { credential, name }: RegistrationRequest): Promise<void> {
    return this.enrolment.register(caller, credential, name);
  }
}

@Controller('passkeys')
export class ConditionalCreateController {
  constructor(private readonly conditional: ConditionalCreate) {}

  @Route('POST', 'conditional-options', 'passkey_conditional_options', {
    summary: 'Begins to set up a first passkey that the browser creates without a question',
    note: 'Needs a login with the password to this session within `confirm.ttl` seconds, and a user without a passkey.',
    limiter: 'svc-passkey-setup',
    answer: CREATION_OPTIONS,
    refusals: [({ confirm }) => new ConfirmationRequired(confirm, []), notRegistered],
    quiet: true,
  })
  options(@CurrentCaller() caller: Caller) {
    return this.conditional.options(caller);
  }

  @Route('POST', 'conditional', 'passkey_register_conditional', {
    summary: 'Stores a first passkey that the browser created without a question',
    note: 'Needs the same login. Only the first passkey of a user is stored.',
    limiter: 'svc-passkey-setup',
    refusals: [({ confirm }) => new ConfirmationRequired(confirm, []), notRegistered, signInRefusal],
  })
  register(@CurrentCaller() caller: Caller, @RequestBody() { credential, name }: RegistrationRequest): Promise<void> {
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
  @Route('POST', 'login-options', 'passkey_login_options', {
    summary: 'Begins a sign-in, second step or confirmation with a passkey',
    public: true,
    limiter: 'svc-passkeys',
    answer: ceremonyWith(REQUEST_OPTIONS),
    quiet: true,
  })
  options() {
    return this.assertions.start();
  }

  @Route('POST', 'login', 'passkey_login', {
    summary: 'Signs in with a passkey',
    note: 'Answers 401 if the user of the passkey no longer exists.',
    public: 'own-origin',
    limiter: 'svc-passkeys',
    answer: tokenPair,
    refusals: [
      notVerified,
      () => new Unauthenticated(false),
      (options) =>
        options.facts.concealsAccounts && options.features.passkeyRegistration ? [] : unverifiedRefusal(options),
      signInRefusal,
    ],
    remembers: true,
    presentedAs: 'login',
  })
  attempt(@RequestBody() assertion: AssertionRequest, @Req() request: object): Promise<SessionTokens> {
    return this.login.attempt(assertion, request);
  }
}

@Controller('confirm-passkey')
export class ConfirmPasskeyController {
  constructor(private readonly confirmation: PasskeyConfirmation) {}

  @Route('POST', '', 'confirm_passkey', {
    summary: 'Proves with a passkey that the user is there',
    gates: [RequireIfPinned('svc.account')],
    limiter: 'svc-confirm',
    answer: CONFIRMATION_BODY,
    refusals: [notVerified, () => new PasskeyRefused('not_yours')],
  })
  confirm(@CurrentCaller() caller: Caller, @RequestBody() assertion: AssertionRequest) {
    return this.confirmation.confirm(caller, assertion);
  }
}
