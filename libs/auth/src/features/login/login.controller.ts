import { type CallSource, Flow, type ServerRequest } from '../../request/http/server-call';
import { Controller, Injectable, Post, Req } from '@nestjs/common';
import { Public } from '../../request/gates/authenticated';
import { RequestBody } from '../../request/http/request-body';
import { DeliversTokens } from '../../request/http/route.interceptor';
import { Throttled } from '../../request/throttling/limiters';
import { Login, type LoginAnswer, LoginRequest } from './login';

@Controller('login')
export class LoginController {
  constructor(private readonly login: Login) {}

  @Post()
  @Public()
  @Throttled('svc-login')
  @DeliversTokens()
  attempt(@RequestBody(LoginRequest) credentials: LoginRequest, @Req() request: object): Promise<LoginAnswer> {
    return this.login.attempt(credentials, request);
  }
}

/** The input of {@link LoginFlow.attempt}. Absent values are wrong credentials. */
export interface LoginInput {
  /** The value of the login field (option `username`). */
  identifier: string | null | undefined;
  password: string | null | undefined;
  /** Whether the session outlives the browser, with `sessions.ttlWithoutRemember`. Default: true. */
  remember?: boolean;
  /** The token of a trusted device. Default: in cookie mode, the cookie of the request. */
  trustedDeviceToken?: string;
  /** Further fields of the request body, for `hooks.authenticate`. */
  fields?: Readonly<Record<string, unknown>>;
}

/**
 * Sign-in with identifier and password, for code of the host.
 *
 * @publicApi
 */
@Injectable()
export class LoginFlow extends Flow {
  /**
   * As `POST /login`: returns the tokens of a new session, a challenge for the second factor, or a token to enrol one.
   *
   * @throws WrongCredentials, TooManyFailures, TooManyRequests, AccountIsLocked, SignInRefused, UnverifiedLogin, HasherBusy,
   * ValidationFailed, StoreUnavailable
   */
  async attempt(credentials: LoginInput, source: CallSource): Promise<LoginAnswer> {
    const { identifier, password, remember, trustedDeviceToken, fields } = credentials ?? ({} as Partial<LoginInput>);
    const { username } = this.scope.realm.options;
    const sign = async (request: ServerRequest): Promise<LoginAnswer> =>
      this.get(Login).attempt(this.read(LoginRequest, request), request);
    return this.call(LoginController, 'attempt', source, sign, {
      ...fields,
      [username]: identifier,
      password,
      trusted_device_token: trustedDeviceToken,
      ...(remember !== undefined && { remember }),
    });
  }
}
