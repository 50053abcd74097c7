import { Controller, Param, Req, Res } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type RealmScope, http, schema, type session } from '../../kit';
import {
  AttemptDelivery,
  AttemptRequest,
  type BegunAttempt,
  CallbackRequest,
  IdentityAttempts,
  attemptRoute,
  callbackRoute,
} from './attempts';
import { BadContinuation, IdentityNotLinked } from './identities.errors';
import { IdentityRegistration, type RegistrationRequired } from './identity-registration';
import { type CallbackAnswer, IdentitySignIn } from './identity-sign-in';

interface RegistrationRequiredBody extends Omit<RegistrationRequired, 'continuationToken' | 'expiresIn'> {
  readonly continuation_token?: string;
  readonly expires_in: number;
}

const REQUIRED = {
  status: schema.oneOf('registration-required'),
  expires_in: schema.of(schema.INTEGER, 'Seconds for which the registration can be continued.'),
  fields: schema.of(schema.listOf(schema.TEXT), 'The fields that the account needs.'),
  name: schema.of(schema.orNull(schema.TEXT), 'As the provider says.'),
  email: schema.of(schema.orNull(schema.TEXT), 'As the provider says.'),
};

const CONTINUATION = schema.of(schema.TEXT, 'To be sent with the fields. Kept by the browser.');

const REGISTRATION_REQUIRED = schema.namedSchema(
  'AuthRegistrationRequired',
  schema.record<Required<RegistrationRequiredBody>>({ ...REQUIRED, continuation_token: CONTINUATION }),
);

const REQUIRED_BESIDE_COOKIE = schema.namedSchema(
  'AuthRegistrationRequiredBesideCookie',
  schema.record<Omit<RegistrationRequiredBody, 'continuation_token'>>(REQUIRED),
);

const account = http.accountRoute(http.tokensOrChallenge, BadContinuation);

@Controller('identities')
export class IdentitiesController {
  constructor(
    private readonly attempts: IdentityAttempts,
    private readonly signIn: IdentitySignIn,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  @http.Route('POST', 'register', 'identity_register', {
    ...account,
    summary: 'Creates the account of a person who comes from a provider',
    note: 'Answers as `POST /register`, without a password. `continuation_token` is that of the callback; in cookie mode, it is in a cookie.',
    steps: [AttemptDelivery],
    body: (scope: RealmScope) => scope.get(IdentityRegistration).body(),
    refusals: [...account.refusals, IdentityNotLinked],
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
      const required = options.cookieMode ? REQUIRED_BESIDE_COOKIE : REGISTRATION_REQUIRED;
      const signedIn = http.tokensOrChallenge(options, manifests);
      return { ...account.answers(options, manifests), 200: schema.anyOf([signedIn, required]) };
    },
    refusals: [...callbackRoute.refusals, http.unverifiedRefusal, http.signInRefusal],
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

const isRequired = (answer: object): boolean => 'status' in answer && answer.status === 'registration-required';
