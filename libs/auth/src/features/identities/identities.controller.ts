import { Controller, Param, Req, Res } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type RealmScope, http, type identity, input, schema, session } from '../../kit';
import { AccountIdentities } from './account-identities';
import {
  AttemptDelivery,
  AttemptRequest,
  type BegunAttempt,
  CallbackRequest,
  IdentityAttempts,
  attemptRoute,
  besideToken,
  callbackRoute,
} from './attempts';
import {
  BadContinuation,
  BadLogoutToken,
  IdentityNotFound,
  IdentityNotLinked,
  IdentityTaken,
  LastIdentity,
  ProviderUnavailable,
} from './identities.errors';
import { type ListedIdentity, SHOWN } from './identity.store';
import { IdentityConfirmation } from './identity-confirmation';
import { IdentityRegistration } from './identity-registration';
import { type CallbackAnswer, IdentitySignIn } from './identity-sign-in';
import { ProviderLogouts } from './provider-logout';

const CAN_CONFIRM = schema.of(schema.FLAG, 'Whether the provider can confirm actions: see `POST /confirm-identity`.');

const LISTED = schema.namedSchema(
  'AuthIdentity',
  schema.record<ListedIdentity>({ id: schema.UUID, ...SHOWN, can_confirm: CAN_CONFIRM }),
);

/** Body of `POST /confirm-identity`. */
export class ConfirmIdentityRequest extends AttemptRequest {
  @input.RequiredText()
  provider!: string;
}

/** Body of `POST /confirm-identity/callback`. */
export class ConfirmIdentityAnswer extends CallbackRequest {
  @input.RequiredText()
  provider!: string;
}

/** Body of `POST /identities/:provider/logout`. A missing token is refused as any other bad one. */
export class LogoutRequest {
  @input.OptionalString()
  logout_token: string | null = null;
}

const registrationRequired = besideToken(
  'AuthRegistrationRequired',
  {
    status: schema.oneOf('registration-required'),
    expires_in: schema.of(schema.INTEGER, 'Seconds for which the registration can be continued.'),
    fields: schema.of(schema.listOf(schema.TEXT), 'The fields that the account needs.'),
    name: schema.of(schema.orNull(schema.TEXT), 'As the provider says.'),
    email: schema.of(schema.orNull(schema.TEXT), 'As the provider says.'),
  },
  { continuation_token: schema.of(schema.TEXT, 'To be sent with the fields. Kept by the browser.') },
);

const account = http.accountRoute(http.tokensOrChallenge, BadContinuation);

/** The caller needs another method of confirmation. */
const anotherMethod: http.Refusal = ({ confirm }) => new session.ConfirmationRequired(confirm, []);

/** The gates of the routes of a session. */
const OWN = [http.RequireIfPinned('svc.account')];

@Controller('identities')
export class IdentitiesController {
  constructor(
    private readonly identities: AccountIdentities,
    private readonly logouts: ProviderLogouts,
    private readonly attempts: IdentityAttempts,
    private readonly signIn: IdentitySignIn,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  @http.Route('GET', '', 'identities_list', {
    summary: 'Lists the accounts at providers that are linked with that of the caller',
    gates: OWN,
    unlimited: 'it reads the identities of the caller',
    answer: schema.record<{ identities: unknown }>({ identities: schema.listOf(LISTED) }),
    quiet: true,
  })
  list(@http.CurrentCaller() caller: identity.Caller): Promise<{ identities: ListedIdentity[] }> {
    return this.identities.list(caller);
  }

  @http.Route('POST', 'end-session', 'identity_end_session', {
    summary: 'Ends the calling session, and returns where the browser signs out at its provider',
    note: '`end_session_url` is null if no provider started the session, or its option `endSession` is off.',
    gates: OWN,
    unlimited: 'it ends the calling session, so each session can call it once',
    endsSession: true,
    answer: schema.record<{ end_session_url: string | null }>({ end_session_url: schema.orNull(schema.TEXT) }),
  })
  endSession(@http.CurrentCaller() caller: identity.Caller): Promise<{ end_session_url: string | null }> {
    return this.identities.endSession(caller);
  }

  @http.Route('POST', ':svcProvider/link', 'identity_link_begin', {
    ...attemptRoute,
    summary: 'Begins to link an account at a provider',
    note: 'The attempt belongs to the calling session.',
    gates: [...OWN, http.RequireConfirmation()],
    quiet: true,
  })
  beginLink(
    @http.CurrentCaller() caller: identity.Caller,
    @Param('svcProvider') provider: string,
    @http.RequestBody() { redirect_uri: redirectUri }: AttemptRequest,
  ): Promise<BegunAttempt> {
    return this.attempts.begin('link', provider, redirectUri, caller);
  }

  @http.Route('POST', ':svcProvider/link/callback', 'identity_link', {
    ...callbackRoute,
    summary: 'Links an account at a provider with the answer of the provider',
    note: 'Answers 409 if another account has it.',
    gates: OWN,
    answer: LISTED,
    refusals: [...callbackRoute.refusals, IdentityTaken, http.signInRefusal],
  })
  link(
    @http.CurrentCaller() caller: identity.Caller,
    @Param('svcProvider') provider: string,
    @http.RequestBody() answer: CallbackRequest,
    @Req() request: object,
  ): Promise<ListedIdentity> {
    return this.identities.link(caller, provider, answer, request);
  }

  /** The provider itself sends it, without cookies, from a foreign origin. */
  @http.Route('POST', ':svcProvider/logout', 'identity_logout', {
    summary: 'Ends the sessions that a provider has signed out (OpenID Connect Back-Channel Logout)',
    note: 'The provider sends the form. A 503 asks it to send the token again.',
    public: true,
    unlimited:
      'a provider ends many sessions at once, and no store is read before the signature of the token is verified',
    status: 200,
    headers: { 'Cache-Control': 'no-store' },
    parameters: attemptRoute.parameters,
    refusals: [BadLogoutToken, () => new ProviderUnavailable(false)],
  })
  logout(
    @Param('svcProvider') provider: string,
    @http.RequestBody() { logout_token: token }: LogoutRequest,
  ): Promise<void> {
    return this.logouts.end(provider, token ?? '');
  }

  @http.Route('DELETE', ':svcIdentity', 'identity_unlink', {
    summary: 'Removes an account at a provider from that of the caller',
    note: 'Ends the sessions that it has started, except the calling one. Answers 409 for the last way to sign in. An identity of another user is 404.',
    parameters: { svcIdentity: schema.of(schema.UUID, 'The id of an identity.') },
    gates: [...OWN, http.RequireConfirmation()],
    unlimited: 'it removes an identity of the caller, which has to be linked again before',
    refusals: [IdentityNotFound, LastIdentity],
  })
  unlink(@http.CurrentCaller() caller: identity.Caller, @Param('svcIdentity') id: string): Promise<void> {
    return this.identities.unlink(caller, id);
  }

  @http.Route('POST', 'register', 'identity_register', {
    ...account,
    summary: 'Creates the account of a person who comes from a provider',
    note: 'Answers as `POST /register`, without a password. `continuation_token` is that of the callback; in cookie mode, it is in a cookie.',
    steps: [AttemptDelivery],
    body: (scope: RealmScope) => scope.get(IdentityRegistration).body(),
    answers: (options, manifests) => ({
      ...account.answers(options, manifests),
      200: http.tokensOrChallenge(options, manifests),
    }),
    refusals: [...account.refusals, IdentityNotLinked, http.unverifiedRefusal, http.signInRefusal],
  })
  register(@Req() request: object): Promise<session.RegistrationAnswer> {
    return this.signIn.register(request);
  }

  @http.Route('POST', ':svcProvider', 'identity_begin', {
    ...attemptRoute,
    summary: 'Begins to sign in at a provider',
    note: 'The page sends the browser to `authorization_url`. In cookie mode, `attempt_token` is in a cookie.',
    public: 'own-origin',
    quiet: true,
  })
  begin(
    @Param('svcProvider') provider: string,
    @http.RequestBody() { redirect_uri: redirectUri }: AttemptRequest,
  ): Promise<BegunAttempt> {
    return this.attempts.begin('sign-in', provider, redirectUri);
  }

  @http.Route('POST', ':svcProvider/callback', 'identity_login', {
    ...callbackRoute,
    summary: 'Signs in with the answer of a provider',
    note: 'Every answer that is not accepted gets the same text. Answers 202, always the same, with `registration.concealExisting`.',
    public: 'own-origin',
    statusOf: (answer: object) => (isRequired(answer) ? 200 : account.statusOf(answer)),
    answers: (options, manifests) => {
      const signedIn = http.tokensOrChallenge(options, manifests);
      return { ...account.answers(options, manifests), 200: schema.anyOf([signedIn, registrationRequired(options)]) };
    },
    refusals: [...callbackRoute.refusals, IdentityNotLinked, http.unverifiedRefusal, http.signInRefusal],
    remembers: true,
    presentedAs: 'login',
  })
  callback(
    @Param('svcProvider') provider: string,
    @http.RequestBody() answer: CallbackRequest,
    @Req() request: object,
  ): Promise<CallbackAnswer> {
    return this.signIn.callback(provider, answer, request);
  }

  @http.Route('POST', ':svcProvider/form', 'identity_form', {
    summary: 'Keeps the form that a provider posts, for the callback',
    note: 'Answers 303 to the page of the provider in the options, with `?handle=`. Reads no cookie, and has no other effect.',
    parameters: attemptRoute.parameters,
    public: true,
    limiter: 'svc-identities',
    headers: { 'Referrer-Policy': 'no-referrer' },
    answers: () => ({ 303: null }),
    refusals: attemptRoute.refusals.slice(0, 1),
    quiet: true,
  })
  async form(
    @Param('svcProvider') provider: string,
    @Req() request: { body?: unknown },
    @Res() response: object,
  ): Promise<void> {
    const page = await this.attempts.keepForm(provider, request.body);
    this.adapterHost.httpAdapter.redirect(response, 303, page);
  }
}

@Controller('confirm-identity')
export class ConfirmIdentityController {
  constructor(private readonly confirmation: IdentityConfirmation) {}

  @http.Route('POST', '', 'confirm_identity_begin', {
    summary: 'Begins to prove at a provider that the user is there',
    note: 'The provider asks the person to sign in again. Answers 423 where another method is needed.',
    gates: OWN,
    limiter: attemptRoute.limiter,
    steps: attemptRoute.steps,
    answer: attemptRoute.answer,
    refusals: [...attemptRoute.refusals, anotherMethod],
    quiet: true,
  })
  begin(
    @http.CurrentCaller() caller: identity.Caller,
    @http.RequestBody() { provider, redirect_uri: redirectUri }: ConfirmIdentityRequest,
  ): Promise<BegunAttempt> {
    return this.confirmation.begin(caller, provider, redirectUri);
  }

  @http.Route('POST', 'callback', 'confirm_identity', {
    summary: 'Proves with the answer of a provider that the user is there',
    gates: OWN,
    limiter: 'svc-confirm',
    steps: attemptRoute.steps,
    answer: http.CONFIRMATION_BODY,
    refusals: [...callbackRoute.refusals, anotherMethod],
  })
  confirm(
    @http.CurrentCaller() caller: identity.Caller,
    @http.RequestBody() answer: ConfirmIdentityAnswer,
    @Req() request: object,
  ): Promise<{ confirmation_token: string }> {
    return this.confirmation.confirm(caller, answer.provider, answer, request);
  }
}

const isRequired = (answer: object): boolean => 'status' in answer && answer.status === 'registration-required';
