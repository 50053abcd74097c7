import { http, type session } from '../../kit';
import { type BegunAttempt, IdentityAttempts } from './attempts';
import { ConfirmIdentityController, IdentitiesController } from './identities.controller';
import type { ListedIdentity } from './identity.store';
import type { CallbackAnswer } from './identity-sign-in';

/** The input of {@link IdentityFlow.callback}. */
export interface IdentityAnswer {
  /** The query with which the browser came back from the provider. */
  readonly parameters: string;
  /** The page to which the browser came, without the query: one of `redirectUris`. Not with the handle of a form. */
  readonly redirectUri?: string;
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
    return this.call(IdentitiesController, 'callback', source, { ...answer, svcProvider: provider });
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
   * @throws BadContinuation, ValidationFailed, IdentifierTaken, IdentityNotLinked, ProviderRefused, UnverifiedLogin, SignInRefused,
   * TooManyRequests, StoreUnavailable
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

  /** As `GET /identities`: lists the identities of the caller, the oldest first. @throws Unauthenticated, InsufficientScope */
  async list(source: http.CallSource): Promise<ListedIdentity[]> {
    return (await this.call(IdentitiesController, 'list', source)).identities;
  }

  /**
   * As `POST /identities/:provider/link`: as {@link begin}, to link an identity with the account of the caller.
   *
   * @throws Unauthenticated, ConfirmationRequired, NoSuchProvider, ValidationFailed, TooManyRequests, ProviderUnavailable,
   * StoreUnavailable
   */
  beginLink(provider: string, source: http.CallSource, redirectUri?: string): Promise<BegunAttempt> {
    return this.call(IdentitiesController, 'beginLink', source, { svcProvider: provider, redirectUri });
  }

  /**
   * As `POST /identities/:provider/link/callback`: links an identity with the account of the caller.
   *
   * @throws Unauthenticated, InsufficientScope, NoSuchProvider, ProviderRefused, IdentityTaken, SignInRefused, TooManyRequests,
   * ValidationFailed, ProviderUnavailable, StoreUnavailable
   */
  link(provider: string, answer: Omit<IdentityAnswer, 'remember'>, source: http.CallSource): Promise<ListedIdentity> {
    return this.call(IdentitiesController, 'link', source, { ...answer, svcProvider: provider });
  }

  /**
   * As `DELETE /identities/:id`: removes an identity of the caller.
   *
   * @throws Unauthenticated, ConfirmationRequired, IdentityNotFound, LastIdentity, StoreUnavailable
   */
  unlink(id: string, source: http.CallSource): Promise<void> {
    return this.call(IdentitiesController, 'unlink', source, { svcIdentity: id });
  }

  /**
   * As `POST /confirm-identity`: as {@link begin}, to confirm the identity of the caller.
   *
   * @throws Unauthenticated, InsufficientScope, ConfirmationRequired, ValidationFailed, TooManyRequests, ProviderUnavailable,
   * StoreUnavailable
   */
  beginConfirmation(provider: string, source: http.CallSource, redirectUri?: string): Promise<BegunAttempt> {
    return this.call(ConfirmIdentityController, 'begin', source, { provider, redirectUri });
  }

  /**
   * As `POST /confirm-identity/callback`: returns a confirmation token for the session of the caller.
   *
   * @throws Unauthenticated, InsufficientScope, ConfirmationRequired, ProviderRefused, ValidationFailed, TooManyRequests,
   * ProviderUnavailable, StoreUnavailable
   */
  async confirm(provider: string, answer: Omit<IdentityAnswer, 'remember'>, source: http.CallSource): Promise<string> {
    return (await this.call(ConfirmIdentityController, 'confirm', source, { provider, ...answer })).confirmation_token;
  }

  /**
   * As `POST /identities/end-session`: ends the session of the caller. Returns where the browser signs out at its provider.
   *
   * @throws Unauthenticated, InsufficientScope, StoreUnavailable
   */
  async endSession(source: http.CallSource): Promise<string | null> {
    return (await this.call(IdentitiesController, 'endSession', source)).end_session_url;
  }

  /**
   * As `POST /identities/:provider/logout`: ends the sessions that a provider has signed out.
   *
   * @throws BadLogoutToken, ProviderUnavailable, StoreUnavailable
   */
  logout(provider: string, logoutToken: string, source: http.CallSource): Promise<void> {
    return this.call(IdentitiesController, 'logout', source, { svcProvider: provider, logoutToken });
  }
}
