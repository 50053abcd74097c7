import { Controller, Injectable, Req } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Realm, http, schema, type session } from '../../kit';
import { CodeAnswer, EmailCodeLogin, WrongEmailCode } from './email-code-login';
import { CodeRequest, EmailCodeRequests, type RequestedCode } from './email-code-requests';
import { EmailCodeCookie } from './email-codes';

/** The body of the answer to a request for a code. In cookie mode, the token is in a cookie. */
export interface RequestedCodeBody {
  code_token?: string;
  expires_in: number;
}

const EXPIRES_IN = { expires_in: schema.of(schema.INTEGER, 'Seconds the code is valid.') };

const REQUESTED = schema.namedSchema(
  'AuthRequestedCode',
  schema.record<Required<RequestedCodeBody>>({
    code_token: schema.of(schema.TEXT, 'To be sent with the code. Kept by the browser that asked.'),
    ...EXPIRES_IN,
  }),
);

const REQUESTED_BESIDE_COOKIE = schema.namedSchema(
  'AuthRequestedCodeBesideCookie',
  schema.record<Pick<RequestedCodeBody, 'expires_in'>>(EXPIRES_IN),
);

/** Writes the token of a requested code in the realm's output mode, and removes its cookie after the code was used. */
@Injectable()
export class CodeTokenDelivery implements http.AnswerStep {
  constructor(
    private readonly realm: Realm,
    private readonly cookie: EmailCodeCookie,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  apply(answer: object, _request: object, response: unknown): object {
    return 'codeToken' in answer ? this.issued(answer, response) : this.used(answer, response);
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

  @http.Route('POST', '', 'email_code_send', {
    summary: 'Mails a code to sign in with',
    note: 'Gives the same answer whether the account exists or not. In cookie mode, `code_token` is in a cookie.',
    public: 'own-origin',
    limiter: 'svc-email-code',
    steps: [CodeTokenDelivery],
    status: 202,
    answer: ({ cookieMode }) => (cookieMode ? REQUESTED_BESIDE_COOKIE : REQUESTED),
  })
  request(@http.RequestBody() { email }: CodeRequest): Promise<RequestedCode> {
    return this.requests.request(email);
  }

  @http.Route('POST', 'verify', 'email_code_login', {
    summary: 'Signs in with a mailed code',
    note: 'Every code that is not accepted gets the same text.',
    public: 'own-origin',
    limiter: 'svc-email-code',
    steps: [CodeTokenDelivery],
    answer: http.tokensOrChallenge,
    refusals: [
      WrongEmailCode,
      http.attemptRefusals('code'),
      // A code verifies the address.
      (options) => (options.facts.provesEmails ? [] : http.unverifiedRefusal(options)),
      http.signInRefusal,
    ],
    remembers: true,
    presentedAs: 'login',
  })
  verify(@http.RequestBody() answer: CodeAnswer, @Req() request: object): Promise<session.LoginAnswer> {
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

declare module '../../request/http/server-call' {
  interface Capabilities {
    /** Sign-in with a mailed code. */
    readonly emailCode: EmailCodeFlow;
  }
}

/**
 * Sign-in with a mailed code, for code of the host. Needs `features.emailCode`.
 *
 * @publicApi
 */
export class EmailCodeFlow extends http.Flow {
  /**
   * As `POST /login/code`: mails a code if the address has an account. The result does not show whether it has. Keep
   * `codeToken` in the browser that asked: the code is valid only together with it.
   *
   * @throws ValidationFailed, TooManyRequests, StoreUnavailable; AuthConfigError without a mailer
   */
  request(email: string, source: http.CallSource): Promise<RequestedCode> {
    return this.call(EmailCodeController, 'request', source, { email });
  }

  /**
   * As `POST /login/code/verify`: returns the tokens of a new session, or a challenge for the second factor. In cookie mode,
   * the token is read from the cookie of the request, as the route reads it.
   *
   * @throws WrongEmailCode, AccountIsLocked, TooManyFailures, TooManyRequests, UnverifiedLogin, SignInRefused,
   * ValidationFailed, HasherBusy, StoreUnavailable
   */
  verify(answer: EmailCodeAnswer, source: http.CallSource): Promise<session.LoginAnswer> {
    return this.call(EmailCodeController, 'verify', source, answer);
  }
}
