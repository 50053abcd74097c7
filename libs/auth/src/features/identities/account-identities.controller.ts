import { Controller, Param, Req } from '@nestjs/common';
import { http, type identity, input, schema, session } from '../../kit';
import { AccountIdentities } from './account-identities';
import { AttemptRequest, type BegunAttempt, CallbackRequest, attemptRoute, callbackRoute } from './attempts';
import { IdentityNotFound, IdentityTaken, LastIdentity, NoSuchProvider } from './identities.errors';
import { type ListedIdentity, SHOWN } from './identity.store';
import { IdentityConfirmation } from './identity-confirmation';
import { BadLogoutToken, ProviderRefused, ProviderUnavailable } from './protocol/provider.errors';
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

@Controller('identities')
export class AccountIdentitiesController {
  constructor(
    private readonly identities: AccountIdentities,
    private readonly logouts: ProviderLogouts,
  ) {}

  @http.Route('GET', '', 'identities_list', {
    summary: 'Lists the accounts at providers that are linked with that of the caller',
    gates: [http.RequireIfPinned('svc.account')],
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
    gates: [http.RequireIfPinned('svc.account')],
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
    gates: [http.RequireIfPinned('svc.account'), http.RequireConfirmation()],
    quiet: true,
  })
  begin(
    @http.CurrentCaller() caller: identity.Caller,
    @Param('svcProvider') provider: string,
    @http.RequestBody() { redirect_uri: redirectUri }: AttemptRequest,
  ): Promise<BegunAttempt> {
    return this.identities.begin(caller, provider, redirectUri);
  }

  @http.Route('POST', ':svcProvider/link/callback', 'identity_link', {
    ...callbackRoute,
    summary: 'Links an account at a provider with the answer of the provider',
    note: 'Answers 409 if another account has it.',
    gates: [http.RequireIfPinned('svc.account')],
    answer: LISTED,
    refusals: [NoSuchProvider, ProviderRefused, () => new ProviderUnavailable(true), IdentityTaken, http.signInRefusal],
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
    gates: [http.RequireIfPinned('svc.account'), http.RequireConfirmation()],
    unlimited: 'it removes an identity of the caller, which has to be linked again before',
    refusals: [IdentityNotFound, LastIdentity],
  })
  unlink(@http.CurrentCaller() caller: identity.Caller, @Param('svcIdentity') id: string): Promise<void> {
    return this.identities.unlink(caller, id);
  }
}

@Controller('confirm-identity')
export class ConfirmIdentityController {
  constructor(private readonly confirmation: IdentityConfirmation) {}

  @http.Route('POST', '', 'confirm_identity_begin', {
    summary: 'Begins to prove at a provider that the user is there',
    note: 'The provider asks the person to sign in again. Answers 423 where another method is needed.',
    gates: [http.RequireIfPinned('svc.account')],
    limiter: attemptRoute.limiter,
    steps: attemptRoute.steps,
    answer: attemptRoute.answer,
    refusals: [
      NoSuchProvider,
      ({ confirm }) => new session.ConfirmationRequired(confirm, []),
      () => new ProviderUnavailable(false),
    ],
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
    gates: [http.RequireIfPinned('svc.account')],
    limiter: 'svc-confirm',
    steps: attemptRoute.steps,
    answer: http.CONFIRMATION_BODY,
    refusals: [
      NoSuchProvider,
      ProviderRefused,
      ({ confirm }) => new session.ConfirmationRequired(confirm, []),
      () => new ProviderUnavailable(true),
    ],
  })
  confirm(
    @http.CurrentCaller() caller: identity.Caller,
    @http.RequestBody() answer: ConfirmIdentityAnswer,
    @Req() request: object,
  ): Promise<{ confirmation_token: string }> {
    return this.confirmation.confirm(caller, answer.provider, answer, request);
  }
}
