import { type ExecutionContext, HttpCode, Injectable, applyDecorators } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Realm } from '../realm/realm';
import { NoStore } from './no-store.decorator';
import { OriginGate } from './origin.gate';
import { RefreshCookie } from './refresh-cookie';
import { requires } from './requires';
import type { SessionTokens } from './session-tokens';

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
