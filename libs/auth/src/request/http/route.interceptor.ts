import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  Header,
  HttpCode,
  applyDecorators,
} from '@nestjs/common';
import { type Observable, defer, lastValueFrom } from 'rxjs';
import { RequestScope } from '../../foundation/platform/deadline';
import { RequestObserver } from '../gates/request-log';
import { HttpAdapterHost } from '@nestjs/core';
import { Realm } from '../../foundation/realm/realm';
import { OriginGate } from '../gates/origin.gate';
import { requires } from '../gates/route-guard';
import { FairShareKeys } from './client-info';
import { RefreshCookie } from './refresh-cookie';

/** Forbids caching of the response (RFC 6749 §5.1, RFC 9111 §5.2.2.5). */
export const NoStore = (): MethodDecorator =>
  applyDecorators(Header('Cache-Control', 'no-store, private'), Header('Pragma', 'no-cache'));

/** The body of a token response (RFC 6749 §5.1). */
export interface TokenBody {
  access_token: string;
  refresh_token?: string;
  token_type: 'Bearer';
  expires_in: number;
}

/**
 * Writes session tokens in the realm's output mode: all in the body, or the refresh token as a cookie. A result that is
 * not session tokens, such as a challenge, is returned unchanged.
 */
@Injectable()
export class TokenDelivery {
  constructor(
    private readonly realm: Realm,
    private readonly cookie: RefreshCookie,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  /** Returns the response body for the result of a handler. */
  of(answer: unknown, context: ExecutionContext): unknown {
    return isTokens(answer) ? this.deliver(answer, context) : answer;
  }

  private deliver(
    { accessToken, refreshToken, expiresIn, refreshExpiresIn }: SessionTokens,
    context: ExecutionContext,
  ): TokenBody {
    const token = { token_type: 'Bearer', expires_in: expiresIn } as const;
    if (!this.realm.options.cookieMode) return { access_token: accessToken, refresh_token: refreshToken, ...token };
    const response = context.switchToHttp().getResponse();
    this.adapterHost.httpAdapter.appendHeader(response, 'Set-Cookie', this.cookie.set(refreshToken, refreshExpiresIn));
    return { access_token: accessToken, ...token };
  }
}

const isTokens = (answer: unknown): answer is SessionTokens =>
  typeof answer === 'object' && answer !== null && 'accessToken' in answer;

/**
 * Marks a route that answers 200 with the session tokens, or with another result, of its handler. In cookie mode, only
 * pages of the same or a listed origin can use the route.
 */
export const DeliversTokens = (): MethodDecorator => applyDecorators(HttpCode(200), NoStore(), requires(OriginGate));

/** The tokens of a started or refreshed session. The refresh token is not stored in plain text. */
export interface SessionTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Lifetime of the access token in seconds. */
  readonly expiresIn: number;
  /** Seconds until the session's deadline. A refresh does not extend it. */
  readonly refreshExpiresIn: number;
}

/** Kinds of second factor: a TOTP code, a recovery code, a passkey. */
export type SecondFactorMethod = 'totp' | 'recovery_code' | 'passkey';

/** The response to a correct password when the user also needs a second factor. It contains no tokens. */
export interface LoginChallenge {
  two_factor: true;
  /** The token for `POST /two-factor-challenge`; single use. */
  challenge_token: string;
  /** The methods with which this user can complete the challenge. */
  methods: readonly SecondFactorMethod[];
}

/**
 * Wraps every request to the library's routes:
 *
 * - It runs the handler in the request scope that `RouteGuard` has opened. Hashes then count as the sender's share of
 *   the queue, and all waits for stores share one deadline.
 * - It writes tokens in the realm's output mode.
 * - It reports the outcome to operators.
 *
 * It is one interceptor, because each interceptor costs several observables per request in Nest.
 */
@Injectable()
export class LibraryRouteInterceptor implements NestInterceptor {
  constructor(
    private readonly fairShareKeys: FairShareKeys,
    private readonly delivery: TokenDelivery,
    private readonly observer: RequestObserver,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const [controller, handler] = [context.getClass(), context.getHandler()];
    const request: object = context.switchToHttp().getRequest();
    const scope = RequestScope.of(request);
    scope.fairShareKeys = () => this.fairShareKeys.of(request);
    const handled = (): Promise<unknown> => lastValueFrom(next.handle(), { defaultValue: undefined });
    const scoped = async (): Promise<unknown> => {
      try {
        const answer = await scope.run(handled);
        return this.delivery.of(answer, context);
      } finally {
        scope.end();
      }
    };
    // The work starts at subscription: an interceptor of the host may call next.handle() and not subscribe.
    return defer(() => this.observer.observe(controller, handler, request, scoped));
  }
}
