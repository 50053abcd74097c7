import { type ExecutionContext, Injectable, type PipeTransform, createParamDecorator } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { GuardConfig } from '../../foundation/config/auth-config';
import { canonicalId } from '../../foundation/platform/database';
import { fieldText } from '../../foundation/platform/http-text';
import { Realm } from '../../foundation/realm/realm';
import { callerOf } from '../../identity/tokens/caller';
import { requestOfParameter } from '../gates/request-log';
import type { AnswerStep } from '../../foundation/realm/route';
import { parseRefreshToken } from '../../identity/tokens/refresh-tokens';

/** The class of a cookie that a feature adds to a guard. */
export interface FeatureCookie {
  new (realm: Realm): TokenCookie;
  /** The name of the cookie is that of the refresh cookie with this suffix. */
  readonly suffix: string;
}

declare module '../../foundation/realm/feature' {
  interface Feature {
    readonly cookies?: readonly FeatureCookie[];
  }
}

/** Sets, clears and reads a cookie of the realm, always with the same name and attributes. */
@Injectable()
export abstract class TokenCookie {
  static readonly suffix: string = '';
  /** Contains the name of the guard, so that guards share no cookie. */
  readonly name: string;
  private readonly options: GuardConfig;

  constructor({ options }: Realm) {
    this.name = options.cookie.refreshName + new.target.suffix;
    this.options = options;
  }

  /**
   * Returns a `Set-Cookie` value.
   *
   * @param maxAge seconds until the end of what the token stands for: the cookie expires with it. Undefined for a session that
   * is not remembered: the browser removes the cookie when it closes (RFC 6265 §5.3)
   */
  set(token: string, maxAge?: number): string {
    return this.serialize(token, maxAge);
  }

  /** Returns a `Set-Cookie` value that removes the cookie. */
  clear(): string {
    return this.serialize('', 0, new Date(0));
  }

  /**
   * Returns the token in a `Cookie` header, or the empty string. Of several cookies of the name none is read: another
   * host of the site may have set one of them, and nothing in the header says which.
   */
  read(header: unknown): string {
    if (typeof header !== 'string') return '';
    const isOwn = (pair: string): boolean => pair.includes('=') && fieldText(pair.split('=', 1)[0]!) === this.name;
    const [own, second] = header.split(';').filter(isOwn);
    return own !== undefined && second === undefined ? (parseCookie(own)[this.name] ?? '') : '';
  }

  /**
   * The token of a request, from the body or the cookie as `refreshTokenFrom` says. Empty without one.
   *
   * @param sent the field of the body, or the header that replaces it
   */
  presented(sent: unknown, { headers }: { headers?: { cookie?: unknown } }): string {
    const { cookieMode, refreshTokenFrom } = this.options;
    const isBoth = refreshTokenFrom === 'both';
    const inBody = isBoth || !cookieMode ? textOf(sent) : '';
    return inBody || (isBoth || cookieMode ? this.read(headers?.cookie) : '');
  }

  private serialize(value: string, maxAge?: number, expires?: Date): string {
    const { name } = this;
    const { secure } = this.options.cookie;
    return stringifySetCookie({ name, value, maxAge, expires, secure, httpOnly: true, path: '/', sameSite: 'strict' });
  }
}

/** The realm's refresh cookie. */
@Injectable()
export class RefreshCookie extends TokenCookie {}

interface RefreshRequest {
  body?: { refresh_token?: unknown } | null;
  headers?: { cookie?: unknown };
}

/**
 * Reads the refresh token where the mode of the guard puts it: from the body, or from the cookie. With
 * `refreshTokenFrom: 'both'`, from the body, otherwise from the cookie. Never from the URL, because URLs are logged.
 */
@Injectable()
export class RefreshTokenPipe implements PipeTransform<RefreshRequest, string> {
  constructor(private readonly cookie: RefreshCookie) {}

  transform({ body, headers }: RefreshRequest): string {
    return this.cookie.presented(body?.refresh_token, { headers });
  }
}

/** A value that is not a string counts as absent. It is never converted to a string. */
const textOf = (sent: unknown): string => (typeof sent === 'string' ? sent.trim() : '');

const RequestItself = createParamDecorator((_: unknown, context: ExecutionContext) => requestOfParameter(context));

/** Injects the refresh token of a request; the empty string when there is none. */
export const PresentedRefreshToken = (): ParameterDecorator => RequestItself(RefreshTokenPipe);

/**
 * In cookie mode, removes the refresh cookie after the calling session has ended. Not the cookie of another session: another tab
 * may have signed in as another user, and the access token of this one is older.
 */
@Injectable()
export class CookieRemoval implements AnswerStep {
  constructor(
    private readonly realm: Realm,
    private readonly cookie: RefreshCookie,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  apply(answer: unknown, request: { headers?: { cookie?: unknown } }, response: unknown): unknown {
    if (!this.realm.options.cookieMode) return answer;
    const family = parseRefreshToken(this.cookie.read(request.headers?.cookie))?.familyId;
    if (endsCallingSession(request, family))
      this.adapterHost.httpAdapter.appendHeader(response, 'Set-Cookie', this.cookie.clear());
    return answer;
  }
}

/**
 * Whether the request ends the calling session, and its cookie belongs to no other one. A route with a session id in its path ends
 * the calling session only if it has the same id.
 *
 * @param family the session of the refresh cookie; undefined without a refresh token in it
 */
function endsCallingSession(
  request: object & { params?: { svcSession?: string } },
  family: string | undefined,
): boolean {
  const { familyId } = callerOf(request) ?? {};
  const id = request.params?.svcSession;
  return (id === undefined || canonicalId(id) === familyId) && (family === undefined || family === familyId);
}
