import {
  type CallHandler,
  type ExecutionContext,
  HttpCode,
  Injectable,
  type NestInterceptor,
  type PipeTransform,
  UseInterceptors,
  applyDecorators,
  createParamDecorator,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { parseCookie, stringifySetCookie } from 'cookie';
import { type Observable, tap } from 'rxjs';
import { canonicalId } from '../../foundation/platform/database';
import { Realm } from '../../foundation/realm/realm';
import { callerOf } from '../../identity/tokens/caller';

/** The realm's refresh cookie: where it is set, cleared and read, name and attributes agree. */
@Injectable()
export class RefreshCookie {
  readonly name: string;
  private readonly secure: boolean;

  constructor({ options: { cookie } }: Realm) {
    this.secure = cookie.secure;
    this.name = cookie.refreshName;
  }

  /** A `Set-Cookie` value. `maxAge` is what is left of the session, so the cookie dies with it. */
  set(refreshToken: string, maxAge: number): string {
    return this.serialize(refreshToken, maxAge);
  }

  /** A `Set-Cookie` value that removes the cookie. */
  clear(): string {
    return this.serialize('', 0, new Date(0));
  }

  /** The token a `Cookie` header carries, or the empty string. */
  read(header: unknown): string {
    return typeof header === 'string' ? (parseCookie(header)[this.name] ?? '') : '';
  }

  private serialize(value: string, maxAge: number, expires?: Date): string {
    const { name, secure } = this;
    return stringifySetCookie({ name, value, maxAge, expires, secure, httpOnly: true, path: '/', sameSite: 'strict' });
  }
}

interface Carrying {
  body?: { refresh_token?: unknown } | null;
  headers?: { cookie?: unknown };
}

/** Takes the refresh token from the body, else from the cookie. Never from the URL, which ends up in logs. */
@Injectable()
export class RefreshTokenPipe implements PipeTransform<Carrying, string> {
  constructor(private readonly cookie: RefreshCookie) {}

  transform({ body, headers }: Carrying): string {
    const sent = body?.refresh_token;
    // What is no string counts as absent: made one, every array would hash alike.
    const inBody = typeof sent === 'string' ? sent.trim() : '';
    return inBody || this.cookie.read(headers?.cookie);
  }
}

const RequestItself = createParamDecorator((_: unknown, context: ExecutionContext) =>
  context.switchToHttp().getRequest(),
);

/** The refresh token a request presents; the empty string when it presents none. */
export const PresentedRefreshToken = (): ParameterDecorator => RequestItself(RefreshTokenPipe);

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
