import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../../kit';
import type { IdentityProvider } from '../providers';

/** DI token of the providers of the guard by name: `identities.providers`. */
export const IDENTITY_PROVIDERS = Symbol('IDENTITY_PROVIDERS');

/** What the answer of the provider must match. Stored with the attempt, and never shown. */
export interface Checks {
  readonly state: string;
  readonly nonce: string;
  /** The PKCE code verifier. */
  readonly verifier: string;
  readonly redirectUri: string;
  /** Unix time in milliseconds. */
  readonly beganAt: number;
  /** Whether the provider has to ask the person again: `auth_time` must not be earlier than `beganAt`. */
  readonly fresh: boolean;
}

/** The verified answer of a provider. Every text is bounded: subject and sid by 255 characters, email by 254. */
export interface ProviderIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** As the provider gives it; a claim only. Null for a text that is no address. */
  readonly email: string | null;
  /** Whether the provider says that it has verified the address. See `IdentityProvider.isAuthorityFor`. */
  readonly emailVerified: boolean;
  readonly name: string | null;
  readonly amr: readonly string[];
  readonly acr: string | null;
  /** Unix seconds. */
  readonly authTime: number | null;
  readonly sid: string | null;
}

/** A verified logout token. */
export interface LogoutNotice {
  readonly issuer: string;
  readonly subject: string | null;
  readonly sid: string | null;
  readonly jti: string;
  /** Unix seconds after which the token is refused anyway: so long is its `jti` to be remembered. */
  readonly expiresAt: number;
}

/** The identity providers of one guard. Makes no request before the first attempt. */
@Injectable()
export class ProviderClients {
  constructor(
    @Inject(IDENTITY_PROVIDERS) private readonly providers: Readonly<Record<string, IdentityProvider>>,
    protected readonly clock: Clock,
  ) {}

  names(): string[] {
    return Object.keys(this.providers);
  }

  find(name: string): IdentityProvider | null {
    return Object.hasOwn(this.providers, name) ? this.providers[name]! : null;
  }

  /**
   * Starts an attempt.
   *
   * @param redirectUri one of the provider's
   * @param fresh whether the provider has to ask the person again; only for a provider with `canConfirm`
   * @returns the URL to which the browser is sent, and what the answer must match
   * @throws ProviderUnavailable
   */
  begin(_name: string, _redirectUri: string, _fresh = false): Promise<{ url: string; checks: Checks }> {
    throw new Error('not yet');
  }

  /**
   * Verifies what the page has received, and exchanges the code.
   *
   * @param parameters of the redirect, or of the form that the provider has posted
   * @throws ProviderRefused, ProviderUnavailable
   */
  exchange(_name: string, _parameters: URLSearchParams, _checks: Checks): Promise<ProviderIdentity> {
    throw new Error('not yet');
  }

  /** Verifies a logout token. The caller refuses a `jti` that was used. @throws BadLogoutToken, ProviderUnavailable */
  verifyLogout(_name: string, _token: string): Promise<LogoutNotice> {
    throw new Error('not yet');
  }

  /**
   * The URL at which the browser signs out at the provider; null if the provider has none, is unavailable, or the option
   * `endSession` is off.
   */
  endSessionUrl(_name: string): Promise<string | null> {
    throw new Error('not yet');
  }
}
