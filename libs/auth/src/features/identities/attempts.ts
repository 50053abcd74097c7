import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import {
  Clock,
  Realm,
  SecurityStore,
  crypto,
  deadline,
  errors,
  http,
  identity,
  input,
  mailing,
  schema,
} from '../../kit';
import { NoSuchProvider, ProviderRefused, ProviderUnavailable } from './identities.errors';
import { type Checks, ProviderClients } from './protocol/provider-clients';
import type { ProviderIdentity } from './protocol/provider-identity.policy';

/** What an attempt is for. Those of a session belong to it. */
export type AttemptKind = 'sign-in' | 'link' | 'confirm';

/** The session to which an attempt belongs. */
export type AttemptOwner = Pick<identity.Caller, 'userId' | 'familyId'>;

/** The answer to a request for the address of a provider. */
export interface BegunAttempt {
  /** The address to which the page sends the browser. */
  readonly authorizationUrl: string;
  /** The secret that the browser sends with the answer of the provider. */
  readonly attemptToken: string;
  /** Seconds for which the attempt is valid. */
  readonly expiresIn: number;
}

/** What the provider has said about a person in an attempt. */
export interface Answered {
  readonly provider: string;
  readonly person: ProviderIdentity;
  /** When the attempt began, in unix milliseconds. */
  readonly beganAt: number;
}

/** A callback, and what the attempt must be for. */
interface Redeemed {
  readonly kind: AttemptKind;
  readonly provider: string;
  readonly answer: CallbackRequest;
  readonly request: object;
  readonly owner?: AttemptOwner;
}

/** What is stored of an attempt. */
interface Attempt extends Checks {
  /** What the provider has said, from the exchange of the code until the callback is answered. */
  readonly person?: ProviderIdentity;
  /** Names one time of keeping after a 503. A write without an answer is repeated, and must not make the attempt usable twice. */
  readonly kept?: string;
}

/** The longest query that a page sends on, and the longest form of a provider, in characters. */
const PARAMETERS_MAX = 8192;
const FORM_MAX = 16_384;

/** Seconds between the form of the provider and the callback of the page. */
const FORM_SECONDS = 60;

/** The cookie that binds an attempt, and the registration that follows it, to the browser that began it. */
@Injectable()
export class IdentityCookie extends http.TokenCookie {
  static override readonly suffix = '.identity';
}

/**
 * Stores attempts to sign in at a provider, the forms that providers post, and the registrations that follow. Each is found by a
 * secret: its key in the store is a hash, and its content is encrypted with a key that is derived from the secret.
 *
 * The key of an attempt also contains its state, provider, page, kind and session. So an answer with another state, or at the page of
 * another provider, finds no attempt, and uses none up: an attacker who makes a browser send the own answer has no effect.
 */
@Injectable()
export class IdentityAttempts {
  constructor(
    private readonly clients: ProviderClients,
    private readonly store: SecurityStore,
    private readonly cookie: IdentityCookie,
    private readonly clock: Clock,
    private readonly realm: Realm,
  ) {}

  /** Seconds for which an attempt is valid. */
  get lifetime(): number {
    return 60 * this.realm.options.identities.attemptMinutes;
  }

  /**
   * Begins an attempt.
   *
   * @param owner the session of an attempt that is no sign-in
   * @throws NoSuchProvider, ValidationFailed, ProviderUnavailable, StoreUnavailable
   */
  async begin(
    kind: AttemptKind,
    provider: string,
    redirectUri: string | null,
    owner?: AttemptOwner,
  ): Promise<BegunAttempt> {
    const found = this.clients.find(provider);
    if (!found) throw new NoSuchProvider();
    const { url, checks } = await this.clients.begin(
      provider,
      redirectUri ?? found.redirectUris[0]!,
      kind === 'confirm',
    );
    const token = crypto.newSecret();
    const { state } = checks;
    const page = found.responseMode === 'query' ? checks.redirectUri : null;
    await this.write(attemptKey(kind, provider, { state, page }, owner), token, checks, this.lifetime);
    return { authorizationUrl: url, attemptToken: token, expiresIn: this.lifetime };
  }

  /**
   * Uses an attempt up for `work`, which gets what the provider says about the person. Of several calls with one attempt, one gets it.
   * After a 503 the attempt can be used again, in the time that is left to it: if the provider could not be asked, and the code was not
   * sent; and if a store did not answer after the exchange of the code, which is not repeated then.
   *
   * @throws NoSuchProvider, ValidationFailed, ProviderRefused, ProviderUnavailable, StoreUnavailable; the errors of `work`
   */
  async redeem<T>(
    { kind, provider, answer: callback, request, owner }: Redeemed,
    work: (answered: Answered) => Promise<T>,
  ): Promise<T> {
    const { parameters, attempt_token: sent, redirect_uri: page } = callback;
    if (!this.clients.find(provider)) throw new NoSuchProvider();
    const token = this.cookie.presented(sent, request);
    const query = new URLSearchParams(parameters);
    const handle = query.get('handle');
    if (handle === null && page === null)
      throw new errors.ValidationFailed({
        redirect_uri: [{ key: 'validation.required', params: { field: 'redirect_uri' } }],
      });
    const form = handle === null ? null : await this.read<string>(['form', provider], handle);
    const answer = handle === null ? query : new URLSearchParams(form ?? '');
    const key = attemptKey(kind, provider, { state: answer.get('state'), page: handle === null ? page : null }, owner);
    const attempt = token && answer.has('state') ? await this.take<Attempt>(key, token) : null;
    const remaining = attempt ? this.lifetime - (this.clock.now() - attempt.beganAt) / 1000 : 0;
    if (!attempt || remaining <= 0)
      throw new ProviderRefused().withReason(token ? 'unknown_attempt' : 'missing_attempt');
    let { person } = attempt;
    try {
      const isUsed =
        attempt.kept && !(await this.store.add(this.keyOf(['kept'], attempt.kept), 'true', 2 * this.lifetime));
      if (isUsed) throw new ProviderRefused().withReason('unknown_attempt');
      person ??= await this.clients.exchange(provider, answer, attempt);
      return await work({ provider, person, beganAt: attempt.beganAt });
    } catch (error) {
      const isUsable = deadline.isUnavailable(error) || (error instanceof ProviderUnavailable && !error.codeSent);
      const again: Attempt = { ...attempt, person, kept: crypto.newSecret() };
      if (isUsable)
        await deadline.bestEffort('keeping an attempt', () => this.write(key, token, again, Math.ceil(remaining)));
      throw error;
    }
  }

  /**
   * Keeps the form that a provider has posted. It arrives without the cookies of the browser, from a foreign page, so nothing else
   * is done with it. Returns the address of the page that makes the callback.
   *
   * @throws NoSuchProvider, UnreadableRequest, StoreUnavailable
   */
  async keepForm(provider: string, body: unknown): Promise<string> {
    const found = this.clients.find(provider);
    if (found?.responseMode !== 'form_post') throw new NoSuchProvider();
    const fields = Object.entries(input.isRecord(body) ? body : {}).filter(
      (field): field is [string, string] => typeof field[1] === 'string',
    );
    const form = String(new URLSearchParams(fields));
    if (form.length > FORM_MAX) throw new errors.UnreadableRequest({ status: 413, key: 'request.too_large' });
    const handle = crypto.newSecret();
    await this.write(['form', provider], handle, form, FORM_SECONDS);
    return mailing.withQuery(found.pageUrl ?? found.redirectUris[0]!, { handle });
  }

  /**
   * Keeps a person who registers, until the missing fields are sent. Returns the token.
   *
   * @param token of a registration that was refused, and can be continued again
   * @throws StoreUnavailable
   */
  async keep(answered: Answered, token = crypto.newSecret()): Promise<string> {
    await this.write(['register'], token, { keptAt: this.clock.now(), ...answered }, this.lifetime);
    return token;
  }

  /** The person of a token, whom {@link takeKept} removes; null without one. @throws StoreUnavailable */
  async findKept(token: string): Promise<Answered | null> {
    const kept = token ? await this.read<Answered & { keptAt: number }>(['register'], token) : null;
    return kept && this.clock.now() - kept.keptAt < 1000 * this.lifetime ? kept : null;
  }

  /** Of several concurrent calls, one returns true. @throws StoreUnavailable */
  async takeKept(token: string): Promise<boolean> {
    return (await this.store.take(this.keyOf(['register'], token))) !== null;
  }

  private async write(of: readonly unknown[], secret: string, content: unknown, seconds: number): Promise<void> {
    const sealed = new crypto.Encryption([secret]).encrypt(Buffer.from(JSON.stringify(content)), CONTEXT);
    await this.store.setMany([this.keyOf(of, secret)], sealed, seconds + identity.CLOCK_MARGIN);
  }

  private async read<Content>(of: readonly unknown[], secret: string): Promise<Content | null> {
    const [stored = null] = await this.store.getMany([this.keyOf(of, secret)]);
    return opened(stored, secret);
  }

  private async take<Content>(of: readonly unknown[], secret: string): Promise<Content | null> {
    return opened(await this.store.take(this.keyOf(of, secret)), secret);
  }

  private keyOf(of: readonly unknown[], secret: string): string {
    return `svc:identity:${this.realm.guard}:${crypto.sha256(JSON.stringify([...of, secret]))}`;
  }
}

const CONTEXT = 'svc:identity';

const attemptKey = (
  kind: AttemptKind,
  provider: string,
  { state, page }: { readonly state: string | null; readonly page: string | null },
  owner?: AttemptOwner,
): readonly unknown[] => [kind, provider, state, page, owner?.userId, owner?.familyId];

function opened<Content>(stored: string | null, secret: string): Content | null {
  const plain = stored === null ? null : new crypto.Encryption([secret]).decrypt(stored, CONTEXT);
  return plain && (JSON.parse(plain.toString()) as Content);
}

/** Body of the routes that begin an attempt. */
export class AttemptRequest {
  @input.OptionalText()
  redirect_uri: string | null = null;
}

/** Body of the routes with the answer of a provider. In cookie mode, the token is in a cookie. */
export class CallbackRequest {
  /** The query with which the browser came to the page. */
  @input.RequiredString(PARAMETERS_MAX)
  parameters!: string;

  @input.OptionalText()
  attempt_token: string | null = null;

  /**
   * The page to which the browser came, without the query: it must be that of the attempt. Otherwise a hostile provider could send
   * the browser on to another one, and get the code of that (RFC 9700 §4.4). Not with the handle of a form, which is of one provider.
   */
  @input.OptionalText()
  redirect_uri: string | null = null;
}

type Fields = Readonly<Record<string, schema.Schema>>;

/** The schema of an answer with a token for the browser, which is in a cookie in cookie mode. */
export function besideToken(name: string, fields: Fields, token: Fields) {
  const withToken = schema.namedSchema(name, schema.record<Fields>({ ...fields, ...token }));
  const besideCookie = schema.namedSchema(`${name}BesideCookie`, schema.record<Fields>(fields));
  return ({ cookieMode }: { readonly cookieMode: boolean }): schema.Schema => (cookieMode ? besideCookie : withToken);
}

/** Writes the token of an attempt, or of a registration, in the realm's output mode, and removes its cookie after its use. */
@Injectable()
export class AttemptDelivery implements http.AnswerStep {
  constructor(
    private readonly realm: Realm,
    private readonly cookie: IdentityCookie,
    @Inject(HttpAdapterHost) private readonly adapterHost: HttpAdapterHost,
  ) {}

  apply(answer: object | undefined, _request: object, response: unknown): object | undefined {
    const { cookieMode } = this.realm.options;
    const { attemptToken, continuationToken, authorizationUrl, expiresIn, ...others } = (answer ?? {}) as Issued;
    const token = attemptToken ?? continuationToken;
    if (cookieMode) {
      const value = token === undefined ? this.cookie.clear() : this.cookie.set(token, expiresIn);
      this.adapterHost.httpAdapter.appendHeader(response, 'Set-Cookie', value);
    }
    if (token === undefined) return answer;
    const own = attemptToken === undefined ? { continuation_token: token } : { attempt_token: token };
    return {
      ...others,
      ...(authorizationUrl !== undefined && { authorization_url: authorizationUrl }),
      ...(!cookieMode && own),
      expires_in: expiresIn,
    };
  }
}

/** An answer with a token for the browser: of an attempt, or of a registration that follows one. */
interface Issued extends Partial<BegunAttempt> {
  readonly continuationToken?: string;
}

/** What the routes that begin an attempt declare in common. */
export const attemptRoute = {
  limiter: 'svc-identities',
  steps: [AttemptDelivery],
  answer: besideToken(
    'AuthBegunAttempt',
    {
      authorization_url: schema.of(schema.TEXT, 'The address of the provider, to which the page sends the browser.'),
      expires_in: schema.of(schema.INTEGER, 'Seconds the attempt is valid.'),
    },
    { attempt_token: schema.of(schema.TEXT, 'To be sent with the callback. Kept by the browser that asked.') },
  ),
  parameters: { svcProvider: schema.of(schema.TEXT, 'The name of a provider in the options.') },
  refusals: [NoSuchProvider, () => new ProviderUnavailable(false)],
};

/** What the routes with the answer of a provider declare in common. */
export const callbackRoute = {
  limiter: 'svc-identities',
  steps: [AttemptDelivery],
  parameters: attemptRoute.parameters,
  refusals: [NoSuchProvider, ProviderRefused, () => new ProviderUnavailable(true)],
};
