/**
 * Where the refresh token is kept. It must fit the mode of the server (`cookieMode`).
 *
 * - `cookie` (cookie mode): in an `HttpOnly` cookie of the server, which no script can read. `localStorage` has only a mark
 *   that there is a session. All tabs share the session, and it survives a restart of the browser.
 * - `localStorage` (body mode): all tabs share the session, and it survives a restart. Every script of the origin can read
 *   the token, and can use it elsewhere until the session ends.
 * - `memory` (body mode): each tab has its own session, which ends for the page with a reload. A script can still steal the
 *   token while the page is open.
 */
export type RefreshTokenPlace = 'cookie' | 'localStorage' | 'memory';

/**
 * A storage of the host, in the place of `localStorage`. `AsyncStorage` of React Native is one. The client reads again before each
 * use and keeps nothing else, so all windows and processes with the same storage have one session. A storage that fails does not
 * stop a sign-in: the session then lasts as long as the process. If it cannot be read, the session goes on: the renewal fails
 * with the reason `unreachable`, and is tried again.
 *
 * Names are `svc-auth:<url>`, and the same with `:device` and `:code`.
 */
export interface TokenStorage {
  getItem(name: string): Promise<string | null> | string | null;
  setItem(name: string, value: string): Promise<unknown> | void;
  removeItem(name: string): Promise<unknown> | void;
}

/**
 * A way to confirm the identity; `password+otp`: the password and a code together (`confirm.factors`); `identity`: a new sign-in
 * at a provider (`confirmWith` of `@svc/auth-client/identities`); `login`: a new sign-in (`confirm.afterLogin`).
 */
export type ConfirmationMethod = 'password' | 'password+otp' | 'passkey' | 'identity' | 'login';

/** The options of {@link createAuthClient}. */
export interface AuthClientOptions {
  /**
   * The path or URL of the routes of a guard, without a slash at its end. Default: `/auth`. The tabs share one session for
   * each value, so a page can have a client for each guard.
   */
  url?: string;
  /** Default: `cookie`. With a {@link TokenStorage}, the server is in body mode. */
  refreshToken?: RefreshTokenPlace | TokenStorage;
  /**
   * Asks the user to confirm the identity (step-up). It shows a dialog, calls {@link AuthClient.confirmPassword} or
   * {@link AuthClient.confirmPasskey}, shows their errors, and resolves to true after one has succeeded; to false if the
   * user cancels. Then the refused request is sent again, or is rejected with the reason `cancelled`. Requests that are
   * refused at the same time share one question. Without it, the refusal (423) is returned.
   *
   * @param methods the ways that this user has, as the server lists them (header `X-Svc-Confirmation-Methods`)
   */
  confirm?: (methods: ConfirmationMethod[]) => Promise<boolean> | boolean;
  /** The header of the confirmation token: the server's `confirm.header`. Default: `X-Svc-Confirmation`. */
  confirmationHeader?: string;
  /**
   * Further origins that get the access token, such as `https://api.example.com`. The origins of the page and of `url` get
   * it always. {@link AuthClient.fetch} refuses all others: a token that is sent to another server is stolen.
   */
  origins?: readonly string[];
  /**
   * Binds the session to a key of this browser, so that its tokens are of no use elsewhere (RFC 9449): `boundKey()` of
   * `@svc/auth-client/bound`. The server needs `features.boundSessions`.
   */
  bound?: (url: string) => BoundRequests;
}

/** How the requests of a session are sent: `globalThis`, or `fetch` with a proof of a key. */
export interface BoundRequests {
  /**
   * @param session whose access token the request has; null for a request without a user; undefined for one that signs in or
   *   refreshes
   */
  fetch(input: RequestInfo | URL, init?: RequestInit, session?: AuthSession | null): Promise<Response>;
}

/** The claims of an access token. The client reads them without verifying the signature. */
export interface AccessClaims {
  /** The id of the user. */
  sub: string;
  /** The id of the session; the same in all its tokens. */
  fid: string;
  jti: string;
  /** The authentication methods: `pwd`, `otp`, `webauthn`, `email`, `fed`. */
  amr?: string[];
  /** When the user signed in, in unix seconds. */
  auth_time?: number;
  /** The abilities, separated by spaces. */
  scope?: string;
  [claim: string]: unknown;
}

/** The session of this tab, with its current access token. */
export interface AuthSession {
  /** The access token. It is in memory only: do not store it. */
  readonly token: string;
  readonly claims: AccessClaims;
  /** When the token expires by the clock of this browser, in milliseconds since 1970. */
  readonly expiresAt: number;
  /** The lifetime of the token in milliseconds. */
  readonly lifetime: number;
}

/** A user is signed in who was not, or another session replaces the current one. */
export interface SignedInEvent {
  session: AuthSession;
  /** `login`: by a form, a passkey or a registration; `restored`: a session of an earlier page. */
  reason: 'login' | 'restored';
  /** Whether it happened in another tab. */
  otherTab: boolean;
}

/** The session has a new access token. */
export interface RenewedEvent {
  session: AuthSession;
  otherTab: boolean;
}

/** The session is over. */
export interface SignedOutEvent {
  /** The session as it was. */
  session: AuthSession;
  /**
   * `logout`: the user signed out; `deleted`: the user deleted the account; `ended`: the server does not renew the session:
   * it has expired or was ended elsewhere, or its refresh token was used twice; `key_lost`: the browser no longer has the key
   * to which the session is bound ({@link AuthClientOptions.bound}).
   */
  reason: 'logout' | 'deleted' | 'ended' | 'key_lost';
  otherTab: boolean;
}

/**
 * The session of an earlier page is over before it was restored, also if {@link AuthClient.restore} had failed before: show the
 * login form.
 */
export interface NotRestoredEvent {
  /** Whether another tab has signed out. */
  otherTab: boolean;
  /** As of {@link SignedOutEvent}. */
  reason: SignedOutEvent['reason'];
}

/** The events of {@link AuthClient.on}. */
export interface AuthClientEvents {
  signedIn: SignedInEvent;
  renewed: RenewedEvent;
  signedOut: SignedOutEvent;
  notRestored: NotRestoredEvent;
}

/** The password or the mailed code was correct, and a second factor is required. */
export interface LoginChallenge {
  two_factor: true;
  enrolment_required?: undefined;
  challenge_token: string;
  /** The factors of the user. */
  methods: ('totp' | 'recovery_code' | 'passkey')[];
}

/**
 * The password was correct, and the user must first set up a second factor (`twoFactor.required`): see `beginEnrolment` of
 * `@svc/auth-client/account`.
 */
export interface EnrolmentChallenge {
  enrolment_required: true;
  two_factor?: undefined;
  enrolment_token: string;
  /** Seconds until the token expires. */
  expires_in: number;
  /** What the user can set up. */
  methods: ('totp' | 'passkey')[];
}

/** The account was created without a session: status 201, or 202 with `registration.concealExisting`. */
export interface Registration {
  two_factor?: undefined;
  enrolment_required?: undefined;
  registered?: boolean;
  /** With `registration.concealExisting`, for every address. */
  status?: 'registration-received';
  /** Whether the user must open the link in the mail before the first sign-in. */
  requires_verification?: boolean;
}

/** The answer to a login challenge: one of both. */
export type SecondFactor = { code: string } | { recovery_code: string };

/** Further fields of a login challenge. */
export interface ChallengeFields {
  /** Whether the password alone is enough on this device from now on (`twoFactor.trustedDeviceDays`). */
  trust_device?: boolean;
}

/** Further fields of a sign-in. */
export interface SignInFields {
  /** Whether the session outlives the browser (`sessions.ttlWithoutRemember`). Default: true. */
  remember?: boolean;
}

/** A session in the list of the user's sessions. */
export interface DeviceSession {
  id: string;
  /** ISO 8601. */
  created_at: string;
  /** ISO 8601. */
  last_used_at: string;
  ip: string | null;
  user_agent: string | null;
  label: string | null;
  /** Who uses it: an operator can act as the user. */
  actor: 'user' | 'operator';
  /** When it ends if it is not used any more, in ISO 8601. */
  expires_at: string;
  /** Whether it is the session of this client. */
  current: boolean;
}

/**
 * Requests to routes of the guard that this interface has no method for: those of `@svc/auth-client/account` and
 * `@svc/auth-client/identities`, and routes of the host below `url`. All bodies and answers are JSON.
 */
export interface GuardRoutes {
  readonly url: string;
  /** The storage that was given as `refreshToken`. Each call is rejected after 5 seconds without an answer. */
  readonly storage?: TokenStorage | undefined;
  /**
   * A request of the signed-in user, as {@link AuthClient.request}. `path` begins with a slash and is below `url`.
   *
   * @param isQuiet whether a request that needs a confirmation is refused without a question
   */
  call<T = void>(method: string, path: string, body?: unknown, isQuiet?: boolean): Promise<T>;
  /** A `POST` without an access token. */
  post<T = void>(path: string, body?: unknown): Promise<T>;
  /**
   * A `POST` that signs in: tokens in the answer become the session, in all tabs.
   *
   * @returns null if the user is signed in; the answer if it has no tokens
   */
  signIn<T = void>(path: string, body: object): Promise<T>;
  /** A `POST` whose answer confirms the identity of the signed-in user, for all further requests of this session. */
  confirm(path: string, body: unknown): Promise<void>;
  /**
   * Creates a passkey with the creation options of a route.
   *
   * @param more further members of the argument of `navigator.credentials.create()`, such as `mediation`
   * @returns the credential as JSON, for the body of the next request
   */
  createPasskey(options: unknown, more?: object): Promise<unknown>;
}

/**
 * The session of a browser with a server that uses `@svc/auth`.
 *
 * Bodies and answers have the fields of the routes (`docs/routes.md`). Every method rejects with an `AuthError` if the
 * server refuses the request or does not answer; `AuthError.errors` has the messages of each field. Calls of a method that
 * changes something, with the same arguments while the first one runs, are one: a double click is one request. Methods of passkeys also
 * reject with the `DOMException` of the browser, such as `NotAllowedError` when the user cancels.
 */
export interface AuthClient {
  /** The current session; null if no user is signed in. Each renewal replaces the object. */
  readonly session: AuthSession | null;
  /** Whether this browser supports passkeys. */
  readonly supportsPasskeys: boolean;

  /**
   * Calls `listener` for an event of this or another tab, before the method that causes it resolves.
   *
   * @returns a function that removes the listener
   */
  on<K extends keyof AuthClientEvents>(event: K, listener: (detail: AuthClientEvents[K]) => void): () => void;
  /**
   * Restores the session of an earlier page or another tab. Call it once, when the page starts. It sends no request if the
   * browser has no session. If it rejects, the session continues: the client tries again by itself.
   *
   * @returns the session, or null
   */
  restore(): Promise<AuthSession | null>;
  /**
   * Renews the session now, for example to get a changed ability, or after a redirect that has set the refresh cookie. It
   * waits until a running renewal of this tab ends, and then sends a new request. It shares a renewal of another
   * tab: if that one was sent before the change, call it again.
   *
   * @returns the session, or null if it has ended
   */
  renew(): Promise<AuthSession | null>;
  /** A valid access token, for example for a WebSocket; null if no user is signed in. It is renewed first if necessary. */
  accessToken(): Promise<string | null>;
  /**
   * `fetch` with the access token. It renews a token that expires or is refused (401 with `invalid_token`; any other 401 only if
   * the token is not new), asks for a confirmation (423), and
   * waits once for `Retry-After` if that is at most 10 seconds (429; 503 if the method is idempotent). It repeats the
   * request once for each of these reasons, never as another user. Without a session, it sends the request without a token.
   * It follows no redirect: `redirect` is `error`, or `manual`.
   *
   * @throws AuthError if the session cannot be renewed, has ended, or is not confirmed; TypeError for an origin that may
   *   not get the token; whatever `fetch` throws
   */
  fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response>;
  /**
   * Sends JSON with {@link fetch}, with a timeout of 15 seconds for each attempt. After a redirect it is rejected with the
   * reason `unreachable`.
   *
   * @param url an URL, or a path of the page's origin
   * @param body sent as JSON; undefined and null: no body
   * @returns the JSON of the answer, or its text if it has another type; null if it has none
   */
  request<T = unknown>(method: string, url: string, body?: unknown, init?: RequestInit): Promise<T>;
  /** Requests to further routes of the guard. */
  readonly routes: GuardRoutes;
  /** Stops timers, listeners and messages. The session continues: another client or page can restore it. */
  close(): void;

  /**
   * Signs in with a password.
   *
   * @param credentials `email` (or the configured login field) and `password`; optional: {@link SignInFields}
   * @returns null if the user is signed in; the challenge for {@link answerChallenge}; or the challenge of a user who must set
   *   up a second factor
   */
  login(credentials: Record<string, unknown>): Promise<LoginChallenge | EnrolmentChallenge | null>;
  /** Completes a login with a second factor. A wrong code leaves the challenge usable; an expired one is `errors.challenge_token`. */
  answerChallenge(challenge: LoginChallenge, factor: SecondFactor & ChallengeFields): Promise<void>;
  /** Completes a login with a passkey, if `challenge.methods` contains it. */
  answerChallengeWithPasskey(challenge: LoginChallenge, fields?: ChallengeFields): Promise<void>;
  /** Signs in with a passkey, without an identifier. Call it in a click. */
  loginWithPasskey(fields?: SignInFields): Promise<void>;
  /**
   * Offers passkeys in the suggestions of an `<input autocomplete="username webauthn">`, and signs in with the chosen one.
   *
   * After a request that fails, and after a dialog that the user cancels, it offers them again after `Retry-After`, or after
   * 5 seconds, doubled with each failure up to 60. It then waits until the page is used (pointer or key).
   *
   * @param signal ends the offer, for example when the form is removed. Any other method that signs in ends it, too
   * @param fields is called after the choice
   * @returns whether the user was signed in; false if the offer was ended, or the browser has no such suggestions
   * @throws AuthError if the server refuses the passkey; any DOMException except NotAllowedError, for example SecurityError
   *   if the page has the wrong origin
   */
  autofillPasskeys(signal?: AbortSignal, fields?: () => SignInFields): Promise<boolean>;
  /**
   * Creates an account. `password_confirmation` is added.
   *
   * @returns null if the user is signed in; a challenge; or the answer without a session
   */
  register(fields: Record<string, unknown>): Promise<LoginChallenge | EnrolmentChallenge | Registration | null>;
  /**
   * Ends the session on the server and in all tabs. If the server cannot be reached it rejects, and the user is still signed
   * in.
   */
  logout(): Promise<void>;

  /** Mails a link to reset the password. The answer does not show whether there is an account. */
  forgotPassword(email: string): Promise<void>;
  /** Sets a new password with the token of a mailed link, which ends the sessions of the user. It signs no user in. */
  resetPassword(fields: { token: string; email: string; password: string }): Promise<void>;
  /**
   * Sets a new password and ends all other sessions. Without `current_password`: the first password of a user without one.
   *
   * @param fields with `end_access_keys`, the access keys of the user end, too (`features.accessKeys`)
   */
  changePassword(fields: { current_password?: string; password: string; end_access_keys?: boolean }): Promise<void>;

  /**
   * Confirms the identity with the password, for all further requests of this session until the confirmation expires.
   *
   * @param factor needed if the method is `password+otp`
   */
  confirmPassword(password: string, factor?: SecondFactor): Promise<void>;
  /** Confirms the identity with a passkey. */
  confirmPasskey(): Promise<void>;

  /** Lists the live sessions of the user, 100 at most. */
  sessions(): Promise<DeviceSession[]>;
  /** Ends one session. If it is the current one, the user is signed out. */
  endSession(id: string): Promise<void>;
  endOtherSessions(): Promise<void>;
  /** Ends every session of the user, including the current one. */
  endAllSessions(): Promise<void>;

  /** Deletes the account. Asks for a confirmation. */
  deleteAccount(): Promise<void>;
}
