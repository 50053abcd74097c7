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
import { type Observable, tap } from 'rxjs';
import { Realm } from '../realm/realm';
import { RefreshCookie } from './refresh-cookie';

/** In cookie mode, removes the refresh cookie once the session has ended. */
@Injectable()
export class CookieRemoval implements NestInterceptor {
  constructor(
    private readonly realm: Realm,
    private readonly cookie: RefreshCookie,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (!this.realm.options.cookieMode) return next.handle();
    const response = context.switchToHttp().getResponse();
    return next
      .handle()
      .pipe(tap(() => this.adapterHost.httpAdapter.appendHeader(response, 'Set-Cookie', this.cookie.clear())));
  }
}

/** Answers 204 and takes the refresh cookie away: for routes that end the calling session. */
export const EndsSession = (): MethodDecorator => applyDecorators(HttpCode(204), UseInterceptors(CookieRemoval));
