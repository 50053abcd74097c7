import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  HttpCode,
  Injectable,
  type NestInterceptor,
  Post,
  Req,
  UseInterceptors,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type Observable, map } from 'rxjs';
import { Realm } from '../../foundation/realm/realm';
import { Public } from '../../request/gates/authenticated';
import { OriginGate } from '../../request/gates/origin.gate';
import { requires } from '../../request/gates/route-guard';
import { RequestBody } from '../../request/http/request-body';
import { DeliversTokens, NoStore } from '../../request/http/route.interceptor';
import { type CallSource, Flow, type ServerRequest } from '../../request/http/server-call';
import { Throttled } from '../../request/throttling/limiters';
import type { LoginAnswer } from '../login/login';
import { CodeAnswer, EmailCodeLogin } from './email-code-login';
import { CodeRequest, EmailCodeRequests, type RequestedCode } from './email-code-requests';
import { EmailCodeCookie } from './email-codes';

/** The body of the answer to a request for a code. In cookie mode, the token is in a cookie. */
export interface RequestedCodeBody {
  code_token?: string;
  expires_in: number;
}

/** Writes the token of a requested code in the realm's output mode, and removes its cookie after the code was used. */
@Injectable()
export class CodeTokenDelivery implements NestInterceptor {
  constructor(
    private readonly realm: Realm,
    private readonly cookie: EmailCodeCookie,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler<object>): Observable<object> {
    const response: unknown = context.switchToHttp().getResponse();
    return next
      .handle()
      .pipe(map((answer) => ('codeToken' in answer ? this.issued(answer, response) : this.used(answer, response))));
  }

  private issued(answer: object, response: unknown): RequestedCodeBody {
    const { codeToken, expiresIn } = answer as RequestedCode;
    if (!this.realm.options.cookieMode) return { code_token: codeToken, expires_in: expiresIn };
    this.setCookie(response, this.cookie.set(codeToken, expiresIn));
    return { expires_in: expiresIn };
  }

  private used(answer: object, response: unknown): object {
    if (this.realm.options.cookieMode) this.setCookie(response, this.cookie.clear());
    return answer;
  }

  private setCookie(response: unknown, value: string): void {
    this.adapterHost.httpAdapter.appendHeader(response, 'Set-Cookie', value);
  }
}

@Controller('login/code')
export class EmailCodeController {
  constructor(
    private readonly requests: EmailCodeRequests,
    private readonly login: EmailCodeLogin,
  ) {}

  @Post()
  @HttpCode(202)
  @NoStore()
  @requires(OriginGate)
  @Public()
  @Throttled('svc-email-code')
  @UseInterceptors(CodeTokenDelivery)
  request(@RequestBody(CodeRequest) { email }: CodeRequest): Promise<RequestedCode> {
    return this.requests.request(email);
  }

  @Post('verify')
  @Public()
  @Throttled('svc-email-code')
  @UseInterceptors(CodeTokenDelivery)
  @DeliversTokens()
  verify(@RequestBody(CodeAnswer) answer: CodeAnswer, @Req() request: object): Promise<LoginAnswer> {
    return this.login.attempt(answer, request);
  }
}

/** The input of {@link EmailCodeFlow.verify}. */
export interface EmailCodeAnswer {
  /** The token of {@link EmailCodeFlow.request}. In cookie mode it is read from the cookie of the request. */
  readonly codeToken?: string;
  readonly code: string;
  /** Whether the session outlives the browser, with `sessions.ttlWithoutRemember`. Default: true. */
  readonly remember?: boolean;
}

/**
 * Sign-in with a mailed code, for code of the host. Needs `features.emailCode`.
 *
 * @publicApi
 */
@Injectable()
export class EmailCodeFlow extends Flow {
  protected override readonly feature = 'emailCode';

  /**
   * As `POST /login/code`: mails a code if the address has an account. The result does not show whether it has. Keep
   * `codeToken` in the browser that asked: the code is valid only together with it.
   *
   * @throws ValidationFailed, TooManyRequests, StoreUnavailable; AuthConfigError without a mailer
   */
  async request(email: string, source: CallSource): Promise<RequestedCode> {
    const requests = this.get(EmailCodeRequests);
    const ask = async (request: ServerRequest): Promise<RequestedCode> =>
      requests.request(this.read(CodeRequest, request).email);
    return this.call(EmailCodeController, 'request', source, ask, { email });
  }

  /**
   * As `POST /login/code/verify`: returns the tokens of a new session, or a challenge for the second factor. In cookie mode,
   * the token is read from the cookie of the request, as the route reads it.
   *
   * @throws WrongEmailCode, AccountIsLocked, TooManyFailures, TooManyRequests, UnverifiedLogin, SignInRefused,
   * ValidationFailed, HasherBusy, StoreUnavailable
   */
  async verify(answer: EmailCodeAnswer, source: CallSource): Promise<LoginAnswer> {
    const login = this.get(EmailCodeLogin);
    const sign = async (request: ServerRequest): Promise<LoginAnswer> =>
      login.attempt(this.read(CodeAnswer, request), request);
    return this.call(EmailCodeController, 'verify', source, sign, {
      code_token: answer?.codeToken,
      code: answer?.code,
      remember: answer?.remember,
    });
  }
}
