import { Injectable } from '@nestjs/common';

/** How the client sends an access token (RFC 6749 §7.1): alone, or with a proof of its key (RFC 9449 §5). */
export type TokenType = 'Bearer' | 'DPoP';

/** The body of a token response (RFC 6749 §5.1). */
export interface TokenBody {
  access_token: string;
  refresh_token?: string;
  token_type: TokenType;
  expires_in: number;
}

/**
 * The kinds of second factor, each with whether it can be set up during a sign-in. Each feature adds its own, by merging into
 * this interface.
 */
export interface SecondFactorMethods {}

/** A kind of second factor. */
export type SecondFactorMethod = keyof SecondFactorMethods;

/** The response to a correct password when the user also needs a second factor. It contains no tokens. */
export interface LoginChallenge {
  two_factor: true;
  /** The token for `POST /two-factor-challenge`; single use. */
  challenge_token: string;
  /** The methods with which this user can complete the challenge. */
  methods: readonly SecondFactorMethod[];
}

/**
 * The response to a correct password when the user must have a second factor and has none (`twoFactor.required`). It
 * contains no tokens.
 */
export interface EnrolmentChallenge {
  enrolment_required: true;
  /** The token for the routes below `/two-factor-enrolment`. It opens one session. */
  enrolment_token: string;
  /** Seconds until the token expires. */
  expires_in: number;
  /** The factors that the user can set up. */
  methods: readonly EnrolmentMethod[];
}

/** Factors that can be set up during a sign-in. */
export type EnrolmentMethod = {
  [Method in SecondFactorMethod]: SecondFactorMethods[Method] extends true ? Method : never;
}[SecondFactorMethod];

/** The request and the user of a presented answer. */
export interface PresentedRequest {
  /** The request of the client. */
  readonly request: unknown;
  readonly guard: string;
  /** The id of the user of the answer; null if it is unknown. */
  readonly userId: string | null;
  /** Reads the user of the answer; null if it is unknown. */
  readonly user: () => Promise<object | null>;
}

/** The answer to a registration that does not sign the user in. */
export interface RegisteredBody {
  registered: true;
  requires_verification: boolean;
}

/**
 * Builds the bodies of the answers to sign-ins. A host that needs other fields extends this class and sets the option
 * `presenter`. Each method gets the fields of the library and returns the body; the default is the fields unchanged. Errors,
 * headers and cookies are not presented. When a method throws, the error is logged and the fields are sent unchanged.
 *
 * In cookie mode the fields contain no refresh token. A presenter must not add secrets: the answer may be read by scripts.
 *
 * @example
 * class MyPresenter extends Presenter {
 *   override async login(fields: TokenBody, { user }: PresentedRequest) {
 *     return { ...fields, name: ((await user()) as User).name };
 *   }
 * }
 * @publicApi
 */
@Injectable()
export class Presenter {
  /** The tokens of a new session: after a password, a passkey or a completed challenge. */
  login(fields: TokenBody, _answer: PresentedRequest): object | Promise<object> {
    return fields;
  }

  /** The tokens of a refreshed session. */
  refresh(fields: TokenBody, _answer: PresentedRequest): object | Promise<object> {
    return fields;
  }

  /** A challenge for the second factor, after a password or a registration. */
  challenge(fields: LoginChallenge, _answer: PresentedRequest): object | Promise<object> {
    return fields;
  }

  /** An enrolment that the user must complete, after a password or a registration. */
  enrolment(fields: EnrolmentChallenge, _answer: PresentedRequest): object | Promise<object> {
    return fields;
  }

  /** A registered account: the tokens of its first session, or its state without a session. */
  registration(fields: TokenBody | RegisteredBody, _answer: PresentedRequest): object | Promise<object> {
    return fields;
  }

  /** The end of the calling session. Undefined answers 204 without a body; an object answers 200. */
  logout(_answer: PresentedRequest): object | undefined | Promise<object | undefined> {
    return undefined;
  }

  /**
   * An opened verification link. Undefined answers 204, or redirects a browser to `emailVerification.frontendUrl`; an
   * object answers 200.
   */
  verification(_answer: PresentedRequest): object | undefined | Promise<object | undefined> {
    return undefined;
  }
}
