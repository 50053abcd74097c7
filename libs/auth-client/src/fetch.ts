import { AuthError } from './errors.js';
import { pause, retryAfterOf, unlessAborted, unreachable, within } from './http.js';
import type { Sessions } from './session.js';
import type { AuthClientOptions, ConfirmationMethod } from './types.js';

/** The answer of the routes that confirm the identity of the user. */
export interface Confirmation {
  confirmation_token: string;
}

/** A longer wait is for the caller, who can show it. */
const LONGEST_WAIT_S = 10;
/** A 503 can come from a proxy after the server did its work, so only these requests are sent again. */
const IDEMPOTENT = /^(GET|HEAD|OPTIONS|PUT|DELETE)$/;

/** RFC 9470: the request needs a confirmation of the user (status 423), or another sign-in (401). */
const STEP_UP = 'insufficient_user_authentication';

/** RFC 6750: the access token is refused. */
const INVALID = 'invalid_token';

/** The origins that may get the access token. @throws TypeError for one that is not absolute; `url` may be a path of a page */
export const trustedOrigins = (url: string, origins: readonly string[] = []): unknown[] => {
  const { origin, document } = globalThis as Partial<typeof globalThis>;
  // A frame `about:srcdoc` has the origin of its parent, and in a sandbox none. Where there is no page, a path has no origin:
  // no server has this name (RFC 2606).
  const page = origin?.includes(':') ? origin : (document?.baseURI ?? 'https://page.invalid');
  return [page, new URL(url, page), ...origins].map((one) => new URL(one).origin);
};

/** `fetch` with the access token and the confirmation token of the session. */
export function authorizedFetch(sessions: Sessions, options: AuthClientOptions, origins: unknown[]) {
  const header = options.confirmationHeader ?? 'X-Svc-Confirmation';
  const ask = async (methods: ConfirmationMethod[]) => options.confirm!(methods);
  /** The confirmation tokens, by session. */
  const confirmations: Record<string, string | undefined> = {};
  let question: Promise<boolean> | undefined;
  /** The origins that have refused a new access token. */
  const refusing = new Set<string>();

  const currentId = () => sessions.live?.claims.fid ?? '';

  const confirmed = async (headers: Headers, refused?: string | null): Promise<void> => {
    // Another request has been confirmed in the meantime.
    if (confirmations[currentId()] !== refused) return;
    delete confirmations[currentId()];
    // While the user is asked, the session can end for another reason than the refused request has announced.
    sessions.announce(currentId());
    const methods = headers.get(`${header}-Methods`)?.match(/[\w+]+/g) ?? [];
    question ??= ask(methods as ConfirmationMethod[]).finally(() => (question = undefined));
    if (!(await question)) throw new AuthError('Cancelled.', { status: 423, reason: 'cancelled' });
  };

  return {
    /** Keeps a confirmation token for all requests of the current session, until the server refuses it. */
    keep(answer: Confirmation): void {
      confirmations[currentId()] = answer.confirmation_token;
    },

    /**
     * @param timeout of each attempt, in milliseconds; none by default. With a timeout, a request without an answer is
     *   rejected with an AuthError
     * @param isQuiet whether a request that needs a confirmation is refused without a question
     */
    async sendAuthorized(
      input: RequestInfo | URL,
      init?: RequestInit,
      timeout?: number,
      isQuiet?: boolean,
    ): Promise<Response> {
      const request = new Request(input, init);
      const { origin } = new URL(request.url);
      if (!origins.includes(origin)) throw new TypeError(`The access token is not sent to ${origin}: see \`origins\`.`);
      const { signal } = request;
      /** The reasons for which the request may be sent once more: the token, the confirmation, a wait. */
      const reasons = new Set([401, 423, 429]);
      // Another user may sign in from another tab at any time: the request is not sent as that user.
      let subject = sessions.live;
      for (;;) {
        const session = await unlessAborted(signal, sessions.fresh());
        subject ??= session;
        if (subject?.claims.sub !== session?.claims.sub)
          throw new AuthError('The session has ended.', { status: 401, reason: 'signedOut' });
        // The user may have signed out before the confirmation has arrived.
        const used = session && confirmations[currentId()];
        // A body can be read once: each attempt sends a copy.
        const attempt = request.clone();
        if (session) attempt.headers.set('Authorization', `Bearer ${session.token}`);
        if (used) attempt.headers.set(header, used);
        // A redirect can lead to any origin. Browsers then remove `Authorization` at most, and neither the confirmation nor
        // the body of a 307. `manual` follows none either.
        const how: RequestInit = {
          signal: timeout ? within(timeout, signal) : signal,
          redirect: request.redirect === 'manual' ? 'manual' : 'error',
        };
        const response = await sessions.carrier.fetch(attempt, how, session).catch((error) => {
          throw timeout && !signal.aborted ? unreachable() : error;
        });
        const { status, headers } = response;
        const wait = retryAfterOf(headers);
        // A confirmation of another session, as after a sign-in in another tab, is refused without a challenge.
        const challenge = headers.get('WWW-Authenticate') ?? '';
        const isStepUp = challenge.includes(STEP_UP) || headers.has(`${header}-Methods`);
        // A new access token of the same sign-in would be refused for a step-up, too.
        const isRefused = session && status === 401 && !isStepUp;
        if (isRefused && !reasons.has(401)) refusing.add(origin);
        let before: Promise<void>;
        // Other 401s than those of the guard cost a renewal only if the token is not new. A page of another origin may not be
        // allowed to read the challenge.
        if (
          isRefused &&
          ((challenge.includes(INVALID) && !refusing.has(origin)) || !sessions.isFresh(session)) &&
          reasons.delete(401)
        )
          before = sessions.renew(session);
        else if (session && status === 423 && isStepUp && options.confirm && !isQuiet && reasons.delete(423))
          before = confirmed(headers, used);
        else if (
          wait &&
          wait <= LONGEST_WAIT_S &&
          (status === 429 || (status === 503 && IDEMPOTENT.test(request.method))) &&
          reasons.delete(429)
        )
          before = pause(wait * 1000);
        else return response;
        await unlessAborted(signal, before);
      }
    },
  };
}
