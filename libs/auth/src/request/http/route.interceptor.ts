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
import { RefreshCookie } from './refresh-cookie';

/** Who a request comes from, as a fair share of the hasher is counted. */
export abstract class FairShareKeys {
  /** The client, then the account it names. Neither is kept: both are hashed. */
  abstract keysOf(request: object): readonly string[];
}

/** Keeps an answer out of every cache (RFC 6749 §5.1, RFC 9111 §5.2.2.5). */
export const NoStore = (): MethodDecorator =>
  applyDecorators(Header('Cache-Control', 'no-store, private'), Header('Pragma', 'no-cache'));

/** A token answer on the wire (RFC 6749 §5.1). */
export interface TokenBody {
  access_token: string;
  refresh_token?: string;
  token_type: 'Bearer';
  expires_in: number;
}

/**
 * Writes session tokens in the realm's output mode: all in the body, or the refresh token as a cookie. What
 * comes in their place, such as a challenge, is the body as it is.
 */
@Injectable()
export class TokenDelivery {
  constructor(
    private readonly realm: Realm,
    private readonly cookie: RefreshCookie,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  /** What a handler's answer becomes on the wire. */
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
 * Answers 200 with the session tokens that the handler returns, or what stands in their place. In cookie mode, to
 * pages of its own origin only.
 */
export const DeliversTokens = (): MethodDecorator => applyDecorators(HttpCode(200), NoStore(), requires(OriginGate));

/** What a started or renewed session hands to its client. The refresh token exists nowhere else in plain text. */
export interface SessionTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Seconds the access token lives. */
  readonly expiresIn: number;
  /** Seconds until the session's deadline, which no refresh moves. */
  readonly refreshExpiresIn: number;
}

/** What a second factor can be: an authenticator's code, a recovery code, a passkey. */
export type SecondFactorMethod = 'totp' | 'recovery_code' | 'passkey';

/** Answers a right password where a second factor is due, instead of tokens. */
export interface LoginChallenge {
  two_factor: true;
  /** For `POST /two-factor-challenge`; single use. */
  challenge_token: string;
  /** What this user can complete it with. */
  methods: readonly SecondFactorMethod[];
}

/**
 * What every request to the library's routes gets: a scope, which `RouteGuard` has opened for its gates, so that whatever
 * it hashes counts as its sender's share and all its waits for the stores as one; its tokens written as the realm's mode
 * says; and an end that operators are told. One interceptor, because each costs Nest several observables a request.
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
    scope.fairShareKeys = () => this.fairShareKeys.keysOf(request);
    const handled = (): Promise<unknown> => lastValueFrom(next.handle(), { defaultValue: undefined });
    const scoped = async (): Promise<unknown> => {
      try {
        const answer = await scope.run(handled);
        return this.delivery.of(answer, context);
      } finally {
        scope.end();
      }
    };
    // Not before somebody listens: an interceptor of the host's may ask for an answer and then want none.
    return defer(() => this.observer.observe(controller, handler, request, scoped));
  }
}
