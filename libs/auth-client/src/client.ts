import type { AuthError } from './errors.js';
import { type Confirmation, authorizedFetch, trustedOrigins } from './fetch.js';
import { TIMEOUT_MS, contentOf, jsonRequest, once, send } from './http.js';
import { openPasskeys, supportsPasskeys } from './passkeys.js';
import { openSessions } from './session.js';
import type {
  AuthClient,
  AuthClientOptions,
  DeviceSession,
  EnrolmentChallenge,
  GuardRoutes,
  LoginChallenge,
  Registration,
  SignedOutEvent,
} from './types.js';

/** As {@link GuardRoutes.call}. @param isOwn as of {@link contentOf} */
type Call = <T = void>(method: string, path: string, body?: unknown, isQuiet?: boolean, isOwn?: boolean) => Promise<T>;

/** The body of routes that set a password: the user types it once. */
const twice = (fields: Record<string, unknown>) => ({ password_confirmation: fields.password, ...fields });

/**
 * Opens the session of this browser. Create one client for each guard and page, and call {@link AuthClient.restore}. While a
 * server renders a page, there is no session.
 *
 * @param options the path of the routes, and where the refresh token is kept. If that does not fit the server, the first
 *   sign-in is rejected
 */
export function createAuthClient(options: AuthClientOptions = {}): AuthClient {
  const { url = '/auth', refreshToken = 'cookie' } = options;
  // Before anything is open that keeps a process alive.
  const origins = trustedOrigins(url, options.origins);
  const sessions = openSessions(url, refreshToken, options.bound?.(url));
  const authorized = authorizedFetch(sessions, options, origins);

  const request = async <T>(
    method: string,
    target: string,
    body?: unknown,
    more?: RequestInit,
    isQuiet?: boolean,
    isOwn?: boolean,
  ): Promise<T> =>
    contentOf<T>(
      await authorized.sendAuthorized(target, jsonRequest(method, body, more), TIMEOUT_MS, isQuiet),
      more?.signal,
      isOwn,
    );
  const read: Call = (method, path, body, ...more) => request(method, url + path, body, sessions.init, ...more);
  const act = once(read) as Call;
  /** A request of the signed-in user to a route of the guard. */
  const call: Call = (method, ...more) => (method === 'GET' ? read : act)(method, ...more);
  /** A request without a user. */
  const post = once((path: string, body?: unknown) => send(url + path, body, sessions.init)) as GuardRoutes['post'];

  const passkeys = openPasskeys(() => post('/passkeys/login-options'));
  const enter = once((path: string, body: object) => {
    passkeys.endOffer();
    return sessions.signInAt(path, body).catch(passkeys.refused);
  }) as GuardRoutes['signIn'];

  /** Sends a request that ends a session, by default the current one, then forgets the session in all tabs. */
  const leave = async (
    method: string,
    path: string,
    reason: SignedOutEvent['reason'] = 'logout',
    id?: string,
  ): Promise<void> => {
    // A session whose renewal has failed before is ended, too.
    const fid = id ?? (sessions.live ?? (await sessions.fresh()))?.claims.fid ?? '';
    sessions.announce(fid, reason);
    await call(method, path, undefined, false, true).catch((error: AuthError) => {
      // Of a logout: the session had ended, or (409) the token belongs to none.
      if (path === '/logout' && [401, 409].includes(error.status) && error.reason !== 'unreachable') return;
      sessions.announce(fid);
      throw error;
    });
    await sessions.forget(fid, reason);
  };
  const answerChallenge = ({ challenge_token }: LoginChallenge, factor: object): Promise<void> =>
    enter('/two-factor-challenge', { challenge_token, ...factor });
  const confirmBy = (path: string, body: unknown): Promise<void> =>
    call<Confirmation>('POST', path, body).then(authorized.keep, passkeys.refused);

  return {
    get session() {
      return sessions.live;
    },
    get supportsPasskeys() {
      return supportsPasskeys();
    },
    on: sessions.on,
    restore: sessions.restore,
    renew: sessions.renewAgain,
    accessToken: async () => (await sessions.fresh())?.token ?? null,
    fetch: authorized.sendAuthorized,
    request,
    routes: {
      url,
      storage: sessions.host,
      call,
      post,
      signIn: enter,
      confirm: confirmBy,
      createPasskey: passkeys.enrol,
    },
    close() {
      passkeys.endOffer();
      sessions.close();
    },

    login: (fields) => enter<LoginChallenge | EnrolmentChallenge | null>('/login', fields),
    answerChallenge,
    answerChallengeWithPasskey: async (challenge, more) =>
      answerChallenge(challenge, { ...more, ...(await passkeys.askFor()) }),
    loginWithPasskey: async (more) => enter('/passkeys/login', { ...more, ...(await passkeys.askFor()) }),
    async autofillPasskeys(signal, more) {
      const proof = await passkeys.offer(signal);
      if (proof) await enter('/passkeys/login', { ...more?.(), ...proof });
      return !!proof;
    },
    register: (fields) => enter<LoginChallenge | EnrolmentChallenge | Registration | null>('/register', twice(fields)),
    logout: () => leave('POST', '/logout'),

    forgotPassword: (email) => post('/forgot-password', { email }),
    async resetPassword(fields) {
      await post('/reset-password', twice(fields));
      // It ends the sessions of the account: a renewal shows whether the one of this browser is among them.
      if (sessions.live) await sessions.renewAgain().catch(() => undefined);
    },
    changePassword: (fields) => call('POST', '/password', twice(fields)),

    confirmPassword: (password, factor) => confirmBy('/confirm-password', { password, ...factor }),
    confirmPasskey: async () => confirmBy('/confirm-passkey', await passkeys.askFor()),

    sessions: async () => (await call<{ data: DeviceSession[] }>('GET', '/sessions')).data,
    endSession: (id) => leave('DELETE', `/sessions/${encodeURIComponent(id)}`, 'logout', id),
    endOtherSessions: () => call('DELETE', '/sessions/others'),
    endAllSessions: () => leave('DELETE', '/sessions'),

    deleteAccount: () => leave('DELETE', '/account', 'deleted'),
  };
}
