import { Header, HttpCode, RequestMapping, RequestMethod, applyDecorators } from '@nestjs/common';
import type { GuardConfig } from '../../foundation/config/auth-config';
import type { RealmScope } from '../../foundation/realm/realm';
import type { AuthException } from '../../foundation/platform/errors';
import {
  INTEGER,
  type Schema,
  TEXT,
  listOf,
  namedSchema,
  objectOf,
  of,
  oneOf,
  record,
} from '../../foundation/platform/schema';
import { type Feature, isOnAt } from '../../foundation/realm/feature';
import { Declared, type RouteDeclaration } from '../../foundation/realm/route';
import { HasherBusy } from '../../identity/password/hash-queue';
import { AccountStandings, SignInRefused } from '../../identity/tokens/access-tokens';
import { Authenticated, Public } from '../gates/authenticated';
import { OriginGate, SenderGate } from '../gates/sender.gate';
import { requires } from '../gates/route-guard';
import { CookieRemoval } from '../http/cookies';
import { AccountIsLocked } from '../lockout/lockout';
import { Throttled } from '../throttling/limiters';
import { TooManyFailures } from '../throttling/throttling.errors';

/** A route of the library: everything that HTTP, the server call, the security log and the documentation know about it. */
export interface RouteOptions extends Omit<RouteDeclaration, 'operation'> {
  /**
   * Whether it needs no access token. `own-origin`: it sets or reads a cookie, so that in cookie mode only pages of the same
   * or of a listed origin can use it.
   */
  readonly public?: boolean | 'own-origin';
  /** The limiter of its requests. Each route has one, or says with `unlimited` why it has none. */
  readonly limiter?: string;
  /** Decorators of further gates, in any order: a fixed order applies. */
  readonly gates?: readonly MethodDecorator[];
  /** Status of the success. Default: 200 with a body, 204 without one. */
  readonly status?: 200 | 202 | 204;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether it ends the calling session. In cookie mode it removes the cookie then. */
  readonly endsSession?: boolean;
}

/**
 * Declares a route of the library. It needs an access token unless it is `public`. A handler
 * that returns a list is answered as `{ data: [...] }`.
 */
export function Route(
  method: keyof typeof RequestMethod,
  path: string,
  operation: string,
  options: RouteOptions,
): MethodDecorator {
  const { done, answer = done && status(done), answers, endsSession, limiter, presentedAs } = options;
  const startsSession = presentedAs === 'login' || presentedAs === 'registration';
  const refusals = [
    ...(options.refusals ?? []),
    ...(startsSession || presentedAs === 'refresh' ? [bindingRefusals] : []),
  ];
  const steps = [...(options.steps ?? []), ...(endsSession ? [CookieRemoval] : [])];
  return applyDecorators(
    RequestMapping({ method: RequestMethod[method], path }),
    HttpCode(options.status ?? (answer || answers ? 200 : 204)),
    ...Object.entries(options.headers ?? {}).map(([name, value]) => Header(name, value)),
    options.public ? Public() : Authenticated(),
    // A public route has the guard, too: it refuses a body that no parser has read.
    ...(options.public ? [requires(...(options.public === 'own-origin' ? [OriginGate] : []))] : []),
    ...(limiter === undefined ? [] : [Throttled(limiter)]),
    ...(startsSession ? [requires(SenderGate)] : []),
    ...(options.gates ?? []),
    Declared({ ...options, operation, steps, refusals, answer: answer || undefined }),
  );
}

// The parts of declarations that routes of several features share.

/** An answer without data. */
export const status = (text: string): Schema => record<{ status: string }>({ status: oneOf(text) });

/** An answer with a list. */
export const listed = (items: Schema): Schema => record<{ data: unknown }>({ data: listOf(items) });

/** The types of the tokens of a guard. */
const typesOf = (options: GuardConfig, manifests: readonly Feature[]): string[] =>
  manifests.flatMap((feature) => (isOnAt(feature, options) ? (feature.on?.tokenBinding?.tokenType ?? []) : []));

const bindingRefusals = (options: GuardConfig, manifests: readonly Feature[]): AuthException[] =>
  manifests
    .flatMap((feature) => (isOnAt(feature, options) ? (feature.on?.tokenBinding?.refusals ?? []) : []))
    .map((Refused) => new Refused());

const TOKEN: { readonly [Name in 'access_token' | 'expires_in']: Schema } = {
  access_token: of(TEXT, 'A JWT, sent as the bearer credential.'),
  expires_in: of(INTEGER, 'Seconds the access token lives.'),
};

/** The token response of a guard: with or without cookie mode. */
export const tokenPair = (options: GuardConfig, manifests: readonly Feature[]): Schema => {
  const token = { ...TOKEN, token_type: oneOf('Bearer', ...typesOf(options, manifests)) };
  if (options.cookieMode)
    return namedSchema(
      'AuthTokensBesideCookie',
      objectOf(token, () => true),
    );
  const refreshToken = of(TEXT, 'For the next refresh. Kept by the client and sent nowhere else.');
  const ofFeatures = manifests
    .flatMap(({ cookies = [] }) => cookies.flatMap(({ delivered }) => delivered ?? []))
    .map(({ field, meaning }) => [field, of(TEXT, meaning)] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const all = { ...token, refresh_token: refreshToken, ...Object.fromEntries(ofFeatures) };
  return namedSchema(
    'AuthTokens',
    objectOf(all, (field) => !ofFeatures.some(([optional]) => optional === field)),
  );
};

/** The refusals of an attempt with a secret whose failures are counted under `field`. */
export const attemptRefusals =
  (field: string) =>
  (options: GuardConfig): AuthException[] => [
    new TooManyFailures(field, { limit: 5, retryAfter: 60 }),
    new HasherBusy(),
    ...lockRefusal(field)(options),
  ];

export const lockRefusal =
  (field: string) =>
  ({ features, lockout }: GuardConfig): AuthException[] =>
    features.lockout ? [new AccountIsLocked(field, lockout.releaseAfter || Infinity)] : [];

/** The refusal of a user whom the host or a feature does not let sign in. */
export const signInRefusal = (_: GuardConfig, __: readonly Feature[], services: RealmScope): AuthException[] =>
  services.get(AccountStandings).mayRefuse ? [new SignInRefused()] : [];
