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
import { canonicalId } from '../kernel/uuid';
import { Realm } from '../realm/realm';
import { callerOf } from '../tokens/caller';
import { RefreshCookie } from './refresh-cookie';

/** In cookie mode, removes the refresh cookie once its session has ended. */
@Injectable()
export class CookieRemoval implements NestInterceptor {
  constructor(
    private readonly realm: Realm,
    private readonly cookie: RefreshCookie,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const [request, response] = [context.switchToHttp().getRequest(), context.switchToHttp().getResponse()];
    if (!this.realm.options.cookieMode || !endsItsOwn(request)) return next.handle();
    return next
      .handle()
      .pipe(tap(() => this.adapterHost.httpAdapter.appendHeader(response, 'Set-Cookie', this.cookie.clear())));
  }
}

/** A route that names a session in its path ends the calling one only where that is the name. */
function endsItsOwn(request: { params?: { svcSession?: string } }): boolean {
  const id = request.params?.svcSession;
  return id === undefined || canonicalId(id) === callerOf(request)?.familyId;
}

/** Answers 204, and takes the refresh cookie away where the calling session ends. */
export const EndsSession = (): MethodDecorator => applyDecorators(HttpCode(204), UseInterceptors(CookieRemoval));
