import {
  Controller,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleInit,
  Param,
  Req,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Realm, errors, http, type identity, input, schema, session, settings } from '../../kit';
import { ConditionalCreate, PasskeyManagement, PasskeyEnrolment } from './passkey-enrolment';
import { PasskeyAssertions } from './passkey-assertions';
import { AssertionRequest, PasskeyConfirmation, PasskeyLogin } from './passkey-login';
import { CREATION_OPTIONS, REQUEST_OPTIONS, ceremonyWith } from './webauthn/options';
import type { ListedPasskey, PasskeyList } from './passkey.entity';
import { LastPasskey, PasskeyNotFound, PasskeyRefused } from './passkeys.errors';
import { CREDENTIAL_ID_MAX } from './webauthn/responses';

/** Body of `PATCH /passkeys/:id`. Without a name, the name of the passkey is removed. */
export class RenameRequest {
  @input.OptionalText()
  name: string | null = null;
}

const PASSKEY = schema.namedSchema(
  'AuthPasskey',
  schema.record<ListedPasskey>({
    id: schema.TEXT,
    name: schema.orNull(schema.TEXT),
    last_used_at: schema.orNull(schema.of(schema.INTEGER, 'Unix seconds.')),
  }),
);

const notRegistered = (): errors.AuthException => new PasskeyRefused('not_registered');
const notVerified = (): errors.AuthException => new PasskeyRefused('not_verified');
const unknown = (): errors.AuthException => new PasskeyRefused('unknown');

const PARAMETERS = { svcPasskey: schema.of({ ...schema.TEXT, maxLength: input.FIELD_MAX }, 'The id of a passkey.') };

@Controller('passkeys')
export class PasskeysController {
  constructor(private readonly passkeys: PasskeyManagement) {}

  @http.Route('GET', '', 'passkeys_list', {
    summary: 'Lists the passkeys of the caller',
    gates: [http.RequireIfPinned('svc.account')],
    unlimited: 'it reads the passkeys of the caller, which are limited in number',
    answer: schema.record<PasskeyList>({
      passkeys: schema.listOf(PASSKEY),
      rp_id: schema.TEXT,
      user_handle: schema.TEXT,
      user_name: schema.TEXT,
      all_accepted_credential_ids: schema.listOf(schema.TEXT),
    }),
    quiet: true,
  })
  list(@http.CurrentCaller() caller: identity.Caller) {
    return this.passkeys.list(caller);
  }

  @http.Route('PATCH', ':svcPasskey', 'passkey_rename', {
    summary: 'Names a passkey',
    note: 'A passkey of another user is 404.',
    parameters: PARAMETERS,
    gates: [http.RequireConfirmation()],
    unlimited: 'it changes one row of the caller',
    refusals: [PasskeyNotFound],
  })
  rename(
    @http.CurrentCaller() { userId }: identity.Caller,
    @Param('svcPasskey') id: string,
    @http.RequestBody() { name }: RenameRequest,
  ) {
    return this.passkeys.rename(userId, id, name);
  }

  @http.Route('DELETE', ':svcPasskey', 'passkey_delete', {
    summary: 'Deletes a passkey',
    note: 'Answers 409 for the last passkey of a user without a password (`passkeys.keepLast`).',
    parameters: PARAMETERS,
    gates: [http.RequireConfirmation()],
    unlimited: 'it removes a passkey of the caller, which has to be added again before',
    refusals: [http.lastFactorRefusal, ({ passkeys }) => (passkeys.keepLast === false ? [] : new LastPasskey())],
  })
  remove(@http.CurrentCaller() caller: identity.Caller, @Param('svcPasskey') id: string): Promise<void> {
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
    @Inject(settings.AUTH_CONFIG) private readonly config: settings.AuthConfig,
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

/**
 * Serves the origins of other domains that may use the passkeys (WebAuthn Level 3 §5.11.1), at the path that the specification
 * fixes.
 */
@Injectable()
export class RelatedOrigins implements OnModuleInit {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly realm: Realm,
    @Inject(settings.AUTH_CONFIG) private readonly config: settings.AuthConfig,
  ) {}

  onModuleInit(): void {
    const { relatedOrigins: origins } = this.realm.options.passkeys;
    const { httpAdapter } = this.adapterHost;
    if (!this.config.routes || !origins.length || !httpAdapter) return;
    http.publishAt(httpAdapter, '/.well-known/webauthn', () => ({ origins }));
  }
}

/** Body of `POST /passkeys`. */
export class RegistrationRequest {
  @input.RequiredObject()
  credential!: object;

  @input.OptionalText()
  name: string | null = null;
}

@Controller('passkeys')
export class PasskeyEnrolmentController {
  constructor(private readonly enrolment: PasskeyEnrolment) {}

  @http.Route('POST', 'registration-options', 'passkey_register_options', {
    summary: 'Begins to set up a passkey',
    gates: [http.RequireConfirmation()],
    limiter: 'svc-passkey-setup',
    answer: CREATION_OPTIONS,
    quiet: true,
  })
  options(@http.CurrentCaller() caller: identity.Caller) {
    return this.enrolment.begin(caller);
  }

  @http.Route('POST', '', 'passkey_register', {
    summary: 'Stores a passkey',
    gates: [http.RequireConfirmation()],
    limiter: 'svc-passkey-setup',
    refusals: [notRegistered, http.signInRefusal],
  })
  register(
    @http.CurrentCaller() caller: identity.Caller,
    @http.RequestBody() { credential, name }: RegistrationRequest,
  ): Promise<void> {
    return this.enrolment.complete(caller, credential, name);
  }
}

@Controller('passkeys')
export class ConditionalCreateController {
  constructor(private readonly conditional: ConditionalCreate) {}

  @http.Route('POST', 'conditional-options', 'passkey_conditional_options', {
    summary: 'Begins to set up a first passkey that the browser creates without a question',
    note: 'Needs a login with the password to this session within `confirm.ttl` seconds, and a user without a passkey.',
    limiter: 'svc-passkey-setup',
    answer: CREATION_OPTIONS,
    refusals: [({ confirm }) => new session.ConfirmationRequired(confirm, []), notRegistered],
    quiet: true,
  })
  options(@http.CurrentCaller() caller: identity.Caller) {
    return this.conditional.options(caller);
  }

  @http.Route('POST', 'conditional', 'passkey_register_conditional', {
    summary: 'Stores a first passkey that the browser created without a question',
    note: 'Needs the same login. Only the first passkey of a user is stored.',
    limiter: 'svc-passkey-setup',
    refusals: [({ confirm }) => new session.ConfirmationRequired(confirm, []), notRegistered, http.signInRefusal],
  })
  register(
    @http.CurrentCaller() caller: identity.Caller,
    @http.RequestBody() { credential, name }: RegistrationRequest,
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
  @http.Route('POST', 'login-options', 'passkey_login_options', {
    summary: 'Begins a sign-in, second step or confirmation with a passkey',
    public: true,
    limiter: 'svc-passkeys',
    answer: ceremonyWith(REQUEST_OPTIONS),
    quiet: true,
  })
  options() {
    return this.assertions.start();
  }

  @http.Route('POST', 'login', 'passkey_login', {
    summary: 'Signs in with a passkey',
    note: 'Answers 401 if the user of the passkey no longer exists.',
    public: 'own-origin',
    limiter: 'svc-passkeys',
    answer: http.tokenPair,
    refusals: [
      notVerified,
      unknown,
      () => new errors.Unauthenticated(false),
      (options) =>
        options.facts.concealsAccounts && options.features.passkeyRegistration ? [] : http.unverifiedRefusal(options),
      http.signInRefusal,
    ],
    remembers: true,
    presentedAs: 'login',
  })
  attempt(@http.RequestBody() assertion: AssertionRequest, @Req() request: object): Promise<http.SessionTokens> {
    return this.login.attempt(assertion, request);
  }
}

@Controller('confirm-passkey')
export class ConfirmPasskeyController {
  constructor(private readonly confirmation: PasskeyConfirmation) {}

  @http.Route('POST', '', 'confirm_passkey', {
    summary: 'Proves with a passkey that the user is there',
    gates: [http.RequireIfPinned('svc.account')],
    limiter: 'svc-confirm',
    answer: http.CONFIRMATION_BODY,
    refusals: [notVerified, unknown, () => new PasskeyRefused('not_yours')],
  })
  confirm(@http.CurrentCaller() caller: identity.Caller, @http.RequestBody() assertion: AssertionRequest) {
    return this.confirmation.confirm(caller, assertion);
  }
}
