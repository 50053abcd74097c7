import {
  type CallHandler,
  type ExecutionContext,
  HttpCode,
  Injectable,
  type NestInterceptor,
  UseInterceptors,
  applyDecorators,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type Observable, map } from 'rxjs';
import { Realm } from '../realm/realm';
import { NoStore } from './no-store.decorator';
import { RefreshCookie } from './refresh-cookie';
import type { SessionTokens } from './session-tokens';

/** A token answer on the wire (RFC 6749 §5.1). */
interface TokenBody {
  access_token: string;
  refresh_token?: string;
  token_type: 'Bearer';
  expires_in: number;
}

/** Writes session tokens in the realm's output mode: all in the body, or the refresh token as a cookie. */
@Injectable()
export class TokenDelivery implements NestInterceptor<SessionTokens, TokenBody> {
  constructor(
    private readonly realm: Realm,
    private readonly cookie: RefreshCookie,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler<SessionTokens>): Observable<TokenBody> {
    return next.handle().pipe(map((tokens) => this.deliver(tokens, context)));
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

/** Answers 200 with the session tokens the handler returns. */
export const DeliversTokens = (): MethodDecorator =>
  applyDecorators(HttpCode(200), NoStore(), UseInterceptors(TokenDelivery));
