import { Controller, Req } from '@nestjs/common';
import type { GuardConfig } from '../../foundation/config/auth-config';
import type { AuthException } from '../../foundation/platform/errors';
import {
  INTEGER,
  type Schema,
  TEXT,
  anyOf,
  listOf,
  namedSchema,
  of,
  oneOf,
  record,
} from '../../foundation/platform/schema';
import type { EnrolmentChallenge, LoginChallenge } from '../../foundation/ports/presenter';
import type { Feature } from '../../foundation/realm/feature';
import { RequestBody } from '../../request/http/request-body';
import { type CallSource, Flow } from '../../request/http/server-call';
import { Route, attemptRefusals, signInRefusal, tokenPair } from '../../request/routes/route';
import { UnverifiedLogin } from '../sessions/sign-in';
import { Login, type LoginAnswer, LoginRequest, WrongCredentials } from './login';

const CHALLENGE = namedSchema(
  'AuthChallenge',
  record<LoginChallenge>({
    two_factor: oneOf(true),
    challenge_token: of(TEXT, 'For the second step. Can be used once.'),
    methods: listOf(oneOf('totp', 'recovery_code', 'passkey')),
  }),
);

const ENROLMENT = namedSchema(
  'AuthEnrolment',
  record<EnrolmentChallenge>({
    enrolment_required: oneOf(true),
    enrolment_token: of(TEXT, 'For the routes below `/two-factor-enrolment`; opens one session.'),
    expires_in: of(INTEGER, 'Seconds until the token expires.'),
    methods: listOf(oneOf('totp', 'passkey')),
  }),
);

/** Whether a second factor is required of a user: the option is a function, or true. */
export const requiresFactor = ({ twoFactor }: GuardConfig): boolean => twoFactor.required !== false;

const hasFactors = ({ isDefault, features, passkeys }: GuardConfig): boolean =>
  features.twoFactor || (isDefault && features.passkeys && passkeys.required !== false);

/** The answer of a sign-in: tokens, or what the user has to do before. */
export const tokensOrChallenge = (options: GuardConfig, manifests: readonly Feature[]): Schema =>
  anyOf([
    tokenPair(options, manifests),
    ...(hasFactors(options) || requiresFactor(options) ? [CHALLENGE] : []),
    ...(requiresFactor(options) ? [ENROLMENT] : []),
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
  /** The token of a trusted device. Default: in cookie mode, the cookie of the request. */
  trustedDeviceToken?: string;
  /** Further fields of the request body, for `hooks.authenticate`. */
  fields?: Readonly<Record<string, unknown>>;
}

declare module '../../request/http/server-call' {
  interface Capabilities {
    /** Sign-in with identifier and password. */
    readonly login: LoginFlow;
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
    const { identifier, password, trustedDeviceToken, remember, fields } = credentials ?? ({} as Partial<LoginInput>);
    const values = { identifier, password, trustedDeviceToken, ...(remember !== undefined && { remember }), fields };
    return this.call(LoginController, 'attempt', source, values);
  }
}
