/** What a started or renewed session hands to its client. The refresh token exists nowhere else in plain text. */
export interface SessionTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Seconds the access token lives. */
  readonly expiresIn: number;
  /** Seconds until the session's deadline, which no refresh moves. */
  readonly refreshExpiresIn: number;
}
