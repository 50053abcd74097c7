import { http, type session } from '../../kit';
import { type BegunAttempt, IdentityAttempts } from './attempts';
import { IdentitiesController } from './identities.controller';
import type { CallbackAnswer } from './identity-sign-in';

/** The input of {@link IdentityFlow.callback}. */
export interface IdentityAnswer {
  /** The query with which the browser came back from the provider. */
  readonly parameters: string;
  /** The token of {@link IdentityFlow.begin}. In cookie mode it is read from the cookie of the request. */
  readonly attemptToken?: string;
  /** Whether the session outlives the browser, with `sessions.ttlWithoutRemember`. Default: true. */
  readonly remember?: boolean;
}

declare module '../../request/http/server-call' {
  interface Capabilities {
    /** Sign-in with providers of identities. */
    readonly identities: IdentityFlow;
  }
}

/**
 * Sign-in with providers of identities, for code of the host. Needs `features.identities`.
 *
 * @publicApi
 */
export class IdentityFlow extends http.Flow {
  /**
   * As `POST /identities/:provider`: returns the address of the provider. Keep `attemptToken` in the browser that asked: the answer
   * of the provider is valid only together with it.
   *
   * @param redirectUri one of those in the options of the provider. Default: the first
   * @throws NoSuchProvider, ValidationFailed, TooManyRequests, ProviderUnavailable, StoreUnavailable
   */
  begin(provider: string, source: http.CallSource, redirectUri?: string): Promise<BegunAttempt> {
    return this.call(IdentitiesController, 'begin', source, { svcProvider: provider, redirectUri });
  }

  /**
   * As `POST /identities/:provider/callback`: returns what a login returns, or the fields that a new account needs.
   *
   * @throws NoSuchProvider, ProviderRefused, IdentityNotLinked, UnverifiedLogin, SignInRefused, TooManyRequests, ValidationFailed,
   * ProviderUnavailable, StoreUnavailable
   */
  callback(provider: string, answer: IdentityAnswer, source: http.CallSource): Promise<CallbackAnswer> {
    return this.call(IdentitiesController, 'callback', source, { svcProvider: provider, ...answer });
  }

  /**
   * As `POST /identities/:provider/form`: keeps the form that a provider has posted, and returns the address of the page to which
   * the browser is sent with 303.
   *
   * @throws NoSuchProvider, UnreadableRequest, TooManyRequests, StoreUnavailable
   */
  form(provider: string, form: Readonly<Record<string, unknown>>, source: http.CallSource): Promise<string> {
    // The handler writes the response itself.
    return this.run(IdentitiesController, 'form', source, () => this.get(IdentityAttempts).keepForm(provider, form));
  }

  /**
   * As `POST /identities/register`: creates the account. Returns as `auth.registration.register` does.
   *
   * @param continuationToken of {@link callback}. In cookie mode it is read from the cookie of the request
   * @param fields the fields that the rules declare, without a password. What is missing is as the provider says
   * @throws BadContinuation, ValidationFailed, IdentifierTaken, IdentityNotLinked, ProviderRefused, TooManyRequests, StoreUnavailable
   */
  register(
    continuationToken: string | undefined,
    fields: Readonly<Record<string, unknown>>,
    source: http.CallSource,
  ): Promise<session.RegistrationAnswer> {
    return this.call(IdentitiesController, 'register', source, {
      fields: { ...fields, continuation_token: continuationToken },
    });
  }
}
