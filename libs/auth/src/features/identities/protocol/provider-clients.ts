import { Inject, Injectable, Logger } from '@nestjs/common';
import { Clock, deadline, errors, isProduction } from '../../../kit';
import type { IdentityProvider, ProviderSettings } from '../provider-options';
import { settingsOf } from '../providers';
import { LOGOUT_SECONDS, type StepFailure, answerVerdict, logoutFault } from './answer.policy';
import { githubIdentity } from './github';
import { UnusableAnswer } from './guarded-fetch';
import { type Jose, openidLibrary } from './openid-library';
import {
  type Claims,
  type ProviderIdentity,
  identityOf,
  isFresh,
  isTenant,
  nameOfForm,
} from './provider-identity.policy';
import { ProviderDocuments, ProviderStep } from './provider-step';
import { BadLogoutToken, ProviderRefused, ProviderUnavailable } from '../identities.errors';

export type { ProviderIdentity };

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

/** A verified logout token. */
export interface SignedOut {
  readonly issuer: string;
  readonly subject: string | null;
  readonly sid: string | null;
  readonly jti: string;
  /** Unix seconds after which the token is refused anyway: so long is its `jti` to be remembered. */
  readonly expiresAt: number;
}

/** The answer was verified by the protocol, and is refused by a rule of ours. */
class RefusedAnswer extends Error {}

/** The algorithms of logout tokens: public keys only, because a shared secret is known to every client of the provider. */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');

const LINES_A_MINUTE = 60;

/** The identity providers of one guard. Makes no request before the first attempt. */
@Injectable()
export class ProviderClients {
  private readonly logger = new Logger('Auth');
  private readonly documents = new Map<string, ProviderDocuments>();
  private readonly library = openidLibrary();
  private logged = { minute: 0, lines: 0 };

  constructor(
    @Inject(IDENTITY_PROVIDERS) private readonly providers: Readonly<Record<string, IdentityProvider>>,
    private readonly clock: Clock,
  ) {}

  find(name: string): IdentityProvider | null {
    return Object.hasOwn(this.providers, name) ? this.providers[name]! : null;
  }

  /** Whether the provider of a stored identity still has its issuer: otherwise nothing signs in with it. */
  issues({ provider, issuer }: { readonly provider: string; readonly issuer: string }): boolean {
    const settings = settingsOf(this.find(provider));
    if (!settings) return false;
    const { tenants } = settings.claims;
    return tenants ? isTenant(issuer, issuer.split('/').at(-2), tenants) : settings.issuer === issuer;
  }

  /** Whether actions can be confirmed with a stored identity. */
  canConfirm(identity: { readonly provider: string; readonly issuer: string }): boolean {
    return this.issues(identity) && this.find(identity.provider)!.canConfirm;
  }

  /**
   * Starts an attempt.
   *
   * @param redirectUri one of the provider's
   * @param fresh whether the provider has to ask the person again; only for a provider with `canConfirm`
   * @returns the URL to which the browser is sent, and what the answer must match
   * @throws ProviderUnavailable
   */
  begin(name: string, redirectUri: string, fresh = false): Promise<{ url: string; checks: Checks }> {
    return this.step(name, ProviderUnavailable, async (step) => {
      const { settings } = step;
      if (!settings.redirectUris.includes(redirectUri))
        throw new errors.ValidationFailed({
          redirect_uri: [{ key: 'validation.invalid', params: { field: 'redirect_uri' } }],
        });
      const { client } = this.library();
      const checks: Checks = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
        redirectUri,
        beganAt: this.clock.now(),
        fresh,
      };
      const url = client.buildAuthorizationUrl(await step.configuration(), {
        ...settings.parameters,
        client_id: settings.clientId,
        response_type: 'code',
        redirect_uri: redirectUri,
        scope: settings.scopes.join(' '),
        state: checks.state,
        code_challenge: await client.calculatePKCECodeChallenge(checks.verifier),
        code_challenge_method: 'S256',
        ...(!settings.api && { nonce: checks.nonce }),
        ...(settings.responseMode === 'form_post' && { response_mode: 'form_post' }),
        ...(fresh && { prompt: 'login', max_age: '0' }),
      });
      return { url: url.href, checks };
    });
  }

  /**
   * Verifies what the page has received, and exchanges the code.
   *
   * @param parameters of the redirect, or of the form that the provider has posted
   * @throws ProviderRefused, ProviderUnavailable
   */
  exchange(name: string, parameters: URLSearchParams, checks: Checks): Promise<ProviderIdentity> {
    return this.step(name, ProviderRefused, async (step) => {
      const { claims: rules, clockToleranceSeconds } = step.settings;
      const identity = identityOf(await this.claimsOf(step, parameters, checks), rules);
      if ('refused' in identity) throw new RefusedAnswer(identity.refused);
      if (checks.fresh && !isFresh(identity, { beganAt: checks.beganAt, now: this.clock.now() }, clockToleranceSeconds))
        throw new RefusedAnswer('the provider has not asked the person again, or its clock is wrong');
      return identity;
    });
  }

  private async claimsOf(step: ProviderStep, parameters: URLSearchParams, checks: Checks): Promise<Claims> {
    const { settings } = step;
    const { client } = this.library();
    const configuration = await step.configuration();
    if (!settings.api) await step.readKeys(configuration);
    const received = new URL(checks.redirectUri);
    received.search = String(parameters);
    const tokens = await client.authorizationCodeGrant(configuration, received, {
      expectedState: checks.state,
      pkceCodeVerifier: checks.verifier,
      ...(!settings.api && { expectedNonce: checks.nonce, idTokenExpected: true }),
    });
    if (settings.api) return githubIdentity(client, configuration, tokens.access_token, settings);
    const claims: Claims = { ...tokens.claims() };
    const named = settings.claims.nameOfForm ? { name: nameOfForm(parameters.get('user')), ...claims } : claims;
    // OpenID Connect Core §5.4: with a code, these claims are those of the UserInfo endpoint, and the ID token may lack them.
    if (!settings.scopes.includes('email') || claims.email !== undefined) return named;
    if (!configuration.serverMetadata().userinfo_endpoint) return named;
    // Only what it is asked for. It is not signed: what it says of the sign-in does not count.
    const { email, email_verified, name } = await client.fetchUserInfo(
      configuration,
      tokens.access_token,
      claims.sub as string,
    );
    return { email, email_verified, name, ...named };
  }

  /** Verifies a logout token. The caller refuses a `jti` that was used. @throws BadLogoutToken, ProviderUnavailable */
  verifyLogout(name: string, token: string): Promise<SignedOut> {
    return this.step(name, BadLogoutToken, async (step) => {
      const { settings } = step;
      if (settings.api) throw new RefusedAnswer('the provider sends none');
      const { jose } = this.library();
      // Any person can send one: before the provider is asked for its documents, and without a line in the log.
      if (!isToken(jose, token)) throw new BadLogoutToken();
      const configuration = await step.configuration();
      const { payload, protectedHeader } = await jose.jwtVerify(token, step.keySet(configuration), {
        issuer: configuration.serverMetadata().issuer,
        audience: settings.clientId,
        algorithms: ALGORITHMS,
        requiredClaims: ['iat', 'exp', 'jti', 'events'],
        maxTokenAge: LOGOUT_SECONDS,
        clockTolerance: settings.clockToleranceSeconds,
        currentDate: new Date(this.clock.now()),
      });
      const fault = logoutFault(payload, protectedHeader.typ);
      if (fault !== null) throw new RefusedAnswer(fault);
      const { iss, sub, sid, jti, exp, iat } = payload;
      return {
        issuer: iss!,
        subject: sub ?? null,
        sid: (sid as string | undefined) ?? null,
        jti: jti!,
        expiresAt: Math.min(exp!, iat! + LOGOUT_SECONDS) + settings.clockToleranceSeconds,
      };
    });
  }

  /**
   * The URL at which the browser signs out at the provider; null if the provider has none, is unavailable, or the option
   * `endSession` is off.
   */
  async endSessionUrl(name: string): Promise<string | null> {
    const { endSession, returnTo } = this.settingsOf(name);
    if (!endSession) return null;
    return this.step(name, ProviderUnavailable, async (step) => {
      const configuration = await step.configuration();
      if (!configuration.serverMetadata().end_session_endpoint) return null;
      const parameters: Record<string, string> = returnTo === undefined ? {} : { post_logout_redirect_uri: returnTo };
      return this.library().client.buildEndSessionUrl(configuration, parameters).href;
    }).catch(deadline.valueIf((error) => error instanceof ProviderUnavailable, null));
  }

  /** Any person can send a wrong answer: at most as many lines a minute as in the security log. */
  private mayLog(): boolean {
    const minute = Math.floor(this.clock.now() / 60_000);
    if (minute !== this.logged.minute) this.logged = { minute, lines: 0 };
    return this.logged.lines++ < LINES_A_MINUTE;
  }

  private settingsOf(name: string): ProviderSettings {
    const settings = settingsOf(this.find(name));
    if (!settings) throw new errors.AuthConfigError(`identities.providers has no provider "${name}".`);
    return settings;
  }

  /** Runs one step with a provider, and turns every failure into its answer. The cause is only in the log. */
  private async step<T>(
    name: string,
    refusal: new (codeSent: boolean) => errors.AuthException,
    work: (step: ProviderStep) => Promise<T>,
  ): Promise<T> {
    const settings = this.settingsOf(name);
    const { clock } = this;
    const documents = this.documents.get(name) ?? new ProviderDocuments(clock);
    this.documents.set(name, documents);
    const step = new ProviderStep({ settings, documents, library: this.library(), clock, production: isProduction() });
    try {
      return await work(step);
    } catch (error) {
      if (error instanceof errors.AuthException) throw error;
      const failure = step.failure ?? error;
      const isRefused =
        failure instanceof RefusedAnswer ||
        (!step.failure && step.isConfigured && answerVerdict(error as StepFailure) === 'refused');
      const answer = new (isRefused ? refusal : ProviderUnavailable)(step.codeSent);
      const what = answer instanceof ProviderUnavailable ? 'is unavailable' : 'was refused';
      if (this.mayLog()) this.logger.warn(`The identity provider "${name}" ${what}: ${causeOf(failure)}`);
      throw answer;
    }
  }
}

/** Whether a text has the form of a JWS. */
function isToken({ decodeProtectedHeader }: Jose, token: string): boolean {
  try {
    return decodeProtectedHeader(token).alg !== undefined;
  } catch {
    return false;
  }
}

/** A word of a provider or a browser in a line of the log. */
const WORD = /^[\w.-]{1,64}$/;

/** The cause for the log. The messages of the libraries are fixed texts; an error code of the provider is added if it is a word. */
function causeOf(error: unknown): string {
  const { message, cause, error: code } = (error ?? {}) as Error & { readonly error?: unknown };
  const inner =
    cause instanceof Error && cause.message !== message && !(error instanceof UnusableAnswer)
      ? `: ${cause.message}`
      : '';
  return `${message}${inner}${typeof code === 'string' && WORD.test(code) ? ` (${code})` : ''}`;
}
