import { Controller, Req } from '@nestjs/common';
import type { GuardConfig } from '../../foundation/config/auth-config';
import type { AuthException } from '../../foundation/platform/errors';
import { type Schema, anyOf } from '../../foundation/platform/schema';
import type { Feature } from '../../foundation/realm/feature';
import { RequestBody } from '../../request/http/request-body';
import type { PasswordRules } from '../../identity/password/password-rules';
import { type CallSource, Flow } from '../../request/http/server-call';
import { Route, attemptRefusals, signInRefusal, tokenPair } from '../../request/routes/route';
import { UnverifiedLogin } from '../sessions/sign-in';
import { Login, type LoginAnswer, LoginRequest, WrongCredentials } from './login';

declare module '../../foundation/realm/feature' {
  interface Feature {
    /** Answers of a sign-in that asks the user for something before it ends. */
    readonly signInAnswers?: (options: GuardConfig, manifests: readonly Feature[]) => readonly Schema[];
  }
}

/** The answer of a sign-in: tokens, or what the user has to do before. */
export const tokensOrChallenge = (options: GuardConfig, manifests: readonly Feature[]): Schema =>
  anyOf([
    tokenPair(options, manifests),
    ...manifests.flatMap(({ signInAnswers }) => signInAnswers?.(options, manifests) ?? []),
  ]);

/** The refusal of a user whose email is not verified. */
export const unverifiedRefusal = ({ facts }: GuardConfig): AuthException[] =>
  facts.blocksUnverified ? [new UnverifiedLogin()] : [];

@Controller('login')
export class LoginController {
  constructor(private readonly login: Login) {}

  @Route('POST', '', 'login', {
    summary: 'Signs in with a password',
    note: 'All wrong credentials get the same answer.',
    public: 'own-origin',
    limiter: 'svc-login',
    answer: tokensOrChallenge,
    refusals: [
      ({ username }) => new WrongCredentials(username),
      (options) => attemptRefusals(options.username)(options),
      (options) => (options.facts.concealsAccounts ? [] : unverifiedRefusal(options)),
      signInRefusal,
    ],
    remembers: true,
    presentedAs: 'login',
  })
  attempt(@RequestBody() credentials: LoginRequest, @Req() request: object): Promise<LoginAnswer> {
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
  /** Further fields of the request body, for `hooks.authenticate`. */
  fields?: Readonly<Record<string, unknown>>;
}

declare module '../../request/http/server-call' {
  interface Capabilities {
    /** Sign-in with identifier and password. */
    readonly login: LoginFlow;
    /** The rules for new passwords. */
    readonly passwords: Pick<PasswordRules, 'check'>;
  }
}

/**
 * Sign-in with identifier and password, for code of the host.
 *
 * @publicApi
 */
export class LoginFlow extends Flow {
  /**
   * As `POST /login`: returns the tokens of a new session, a challenge for the second factor, or a token to enrol one.
   *
   * @throws WrongCredentials, TooManyFailures, TooManyRequests, AccountIsLocked, SignInRefused, UnverifiedLogin, HasherBusy,
   * ValidationFailed, StoreUnavailable
   */
  async attempt(credentials: LoginInput, source: CallSource): Promise<LoginAnswer> {
    const { remember, ...own } = credentials ?? ({} as Partial<LoginInput>);
    return this.call(LoginController, 'attempt', source, { ...own, ...(remember !== undefined && { remember }) });
  }
}
