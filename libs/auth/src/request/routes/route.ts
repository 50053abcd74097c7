import {
  Header,
  HttpCode,
  type NestInterceptor,
  RequestMapping,
  RequestMethod,
  type Type,
  UseInterceptors,
  applyDecorators,
} from '@nestjs/common';
import type { GuardConfig } from '../../foundation/config/auth-config';
import type { AuthException } from '../../foundation/platform/errors';
import { INTEGER, type Schema, TEXT, listOf, namedSchema, of, oneOf, record } from '../../foundation/platform/schema';
import type { TokenBody } from '../../foundation/ports/presenter';
import { Declared, type RouteDeclaration } from '../../foundation/realm/route';
import { HasherBusy } from '../../identity/password/hash-queue';
import { SignInRefused } from '../../identity/tokens/access-tokens';
import { Authenticated, Public } from '../gates/authenticated';
import { OriginGate } from '../gates/origin.gate';
import { requires } from '../gates/route-guard';
import { CookieRemoval } from '../http/refresh-cookie';
import { NO_STORE } from '../http/route.interceptor';
import { AccountIsLocked } from '../lockout/lockout';
import { Throttled } from '../throttling/limiters';
import { TooManyFailures } from '../throttling/throttling.errors';

/** A route of the library: everything that HTTP, the server call, the security log and the documentation know about it. */
export interface RouteOptions extends RouteDeclaration {
  /** Whether it needs no access token. */
  readonly public?: boolean;
  /** Whether only pages of the same or a listed origin can use it in cookie mode: it sets or reads a cookie. */
  readonly ownOrigin?: boolean;
  /** The limiter of its requests. Each route has one, or says with `unlimited` why it has none. */
  readonly limiter?: string;
  /** Decorators of further gates, in any order: a fixed order applies. */
  readonly gates?: readonly MethodDecorator[];
  /** Status of the success. Default: 200 with a body, 204 without one. */
  readonly status?: 200 | 202 | 204;
  readonly headers?: Readonly<Record<string, string>>;
  readonly interceptors?: readonly Type<NestInterceptor>[];
  /** Whether it ends the calling session. In cookie mode it removes the cookie then. */
  readonly endsSession?: boolean;
}

/** Declares a route of the library. Its answer is never cached, and it needs an access token unless it is `public`. */
export function Route(method: keyof typeof RequestMethod, path: string, options: RouteOptions): MethodDecorator {
  const { answer, answers, endsSession, gates = [], headers = {}, interceptors = [], limiter, ownOrigin } = options;
  const { status = answer || answers ? 200 : 204 } = options;
  const wrapping = [...interceptors, ...(endsSession ? [CookieRemoval] : [])];
  return applyDecorators(
    RequestMapping({ method: RequestMethod[method], path }),
    HttpCode(status),
    ...[...Object.entries(headers), ...NO_STORE].map(([name, value]) => Header(name, value)),
    options.public ? Public() : Authenticated(),
    ...(ownOrigin ? [requires(OriginGate)] : []),
    ...(limiter === undefined ? [] : [Throttled(limiter)]),
    ...gates,
    ...(wrapping.length ? [UseInterceptors(...wrapping)] : []),
    Declared(options),
  );
}

// The parts of declarations that routes of several features share.

/** An answer without data. */
export const status = (text: string): Schema => record<{ status: string }>({ status: oneOf(text) });

/** An answer with a list. */
export const listed = (items: Schema): Schema => record<{ data: unknown }>({ data: listOf(items) });

const TOKEN = {
  access_token: of(TEXT, 'A JWT, sent as the bearer credential.'),
  token_type: oneOf('Bearer'),
  expires_in: of(INTEGER, 'Seconds the access token lives.'),
};

const TOKENS = namedSchema(
  'AuthTokens',
  record<TokenBody>(
    {
      ...TOKEN,
      refresh_token: of(TEXT, 'For the next refresh. Kept by the client and sent nowhere else.'),
      device_token: of(
        TEXT,
        'After a sign-in with `features.knownDevices`: for the header `X-Svc-Device` of the next one.',
      ),
      trusted_device_token: of(TEXT, 'Of a device that is trusted from now on. Only after `trust_device`.'),
    },
    ['device_token', 'trusted_device_token'],
  ),
);

const TOKENS_BESIDE_COOKIE = namedSchema(
  'AuthTokensBesideCookie',
  record<Omit<TokenBody, 'refresh_token' | 'device_token' | 'trusted_device_token'>>(TOKEN),
);

/** The token response of a guard: with or without cookie mode. */
export const tokenPair = ({ cookieMode }: GuardConfig): Schema => (cookieMode ? TOKENS_BESIDE_COOKIE : TOKENS);

/** The refusals of an attempt with a secret whose failures are counted under `field`. */
export const attemptRefusals = (field: string, options: GuardConfig): AuthException[] => [
  new TooManyFailures(field, 60),
  new HasherBusy(),
  ...lockRefusal(field, options),
];

export const lockRefusal = (field: string, { features, lockout }: GuardConfig): AuthException[] =>
  features.lockout ? [new AccountIsLocked(field, lockout.releaseAfter || Infinity)] : [];

/** The refusal of a user whom the host does not let sign in. */
export const signInRefusal = ({ hooks }: GuardConfig): AuthException[] =>
  hooks.canSignIn ? [new SignInRefused()] : [];
