import { AuthError } from './errors.js';
import { claimsOf } from './base64url.js';
import { momentAt, since } from './clock.js';
import { KEY_LOST, REFUSED, STORAGE_MS, TIMEOUT_MS, pause, send, unreachable, waitAfter, whenShown } from './http.js';
import type { Device, Tokens } from './http.js';
import { inTime } from './storage.js';
import type { AuthClientEvents, AuthSession, BoundRequests, RefreshTokenPlace, TokenStorage } from './types.js';

const DAY_MS = 86_400_000;
/** A token is renewed this long before it expires, or a fifth of its lifetime before, whichever is less. */
const MARGIN_MS = 60_000;
/** A request waits for the renewal of a token that expires so soon. */
const SOON_MS = 5000;
/**
 * No work under the lock takes longer: it is two requests with a pause, and with a storage of the host six of its calls. A tab
 * that has the lock for longer hangs, as in an `alert()`, and another one takes the lock away.
 */
const LONGEST_WORK_MS = 2 * TIMEOUT_MS + 2000;
const LONGEST_CALLS_MS = 6 * STORAGE_MS;
/** The lock is held this long after the work, so that the other tabs receive its message before one gets the lock. */
const BROADCAST_MS = 50;

type SignedInReason = AuthClientEvents['signedIn']['reason'];
type SignedOutReason = AuthClientEvents['signedOut']['reason'];

/**
 * A message between tabs. It is never stored. `kept`: the refresh token, only if it could not be stored. `isOver`: whether the
 * session has ended, or is about to end for this reason.
 */
type Message =
  | { session: AuthSession; reason: SignedInReason; kept: string | null }
  | { ended: string; reason?: SignedOutReason; isOver: boolean };

const marginOf = ({ lifetime }: AuthSession): number => Math.min(MARGIN_MS, lifetime / 5);

export type Sessions = ReturnType<typeof openSessions>;

/**
 * The session of this tab, which all tabs of the browser share unless the refresh token is in memory.
 *
 * @param carrier sends the requests that start, renew or use the session
 */
export function openSessions(
  url: string,
  place: RefreshTokenPlace | TokenStorage,
  carrier: BoundRequests = globalThis,
) {
  const isCookie = place === 'cookie';
  /** Of every request to a route of the guard. None of them redirects. */
  const init: RequestInit = { credentials: isCookie ? 'include' : 'omit', redirect: 'error' };
  const isShared = place !== 'memory';
  /**
   * Whether it is in a page or a worker, and other tabs have its session. Node has locks and channels, too, which would be those
   * of all users of a server, and keep the process alive.
   */
  const isTab = isShared && (globalThis.window || 'WorkerGlobalScope' in globalThis);
  const name = `svc-auth:${url}`;
  let channel: BroadcastChannel | undefined;
  /** React Native has neither `EventTarget` nor `CustomEvent`. */
  const listeners = new Set<[string, (detail: never) => void]>();
  const closed = new AbortController();

  let current: AuthSession | null = null;
  let issued = momentAt();
  /** Whether there is a session to restore whose renewal has not succeeded yet. */
  let isAwaited = false;
  /** While {@link restore} looks for a session, requests wait. */
  let reading: Promise<void> | undefined;
  let failures = 0;
  /** The last failure of a renewal, and the milliseconds of its `Retry-After`. */
  let refusal: AuthError;
  let refused = issued;
  let retryAfter = 0;
  /** The renewals that wait or run, by the session that they replace. */
  const renewals = new Map<AuthSession | null, Promise<void>>();
  let timer: ReturnType<typeof setTimeout>;
  let queue: Promise<unknown> = Promise.resolve();

  /**
   * The refresh token (in cookie mode a mark that there is a session) that is not in the storage: with `memory`, or if the
   * browser refuses storage or it is full. Then the session lasts as long as the open pages, which share it by messages.
   */
  let kept: string | null = null;
  const host = typeof place === 'string' ? undefined : inTime(place);
  const storage = () => host ?? localStorage;
  const read = async (key: string) => (isShared ? storage().getItem(key) : null);
  /** @throws AuthError if it cannot be read now, which does not mean that there is none */
  const stored = async () =>
    kept ??
    read(name).catch(() => {
      // A browser that refuses `localStorage` has never kept a session there.
      if (current || host) throw unreachable();
    });
  const store = async (value: string | null): Promise<void> => {
    kept = null;
    try {
      if (!isShared) kept = value;
      else if (value) await storage().setItem(name, value);
      else await storage().removeItem(name);
    } catch {
      // An older token must not stay: if it is sent again, the server takes it for stolen.
      if (value) await store(null);
      kept = value;
    }
  };

  /** In body mode, the tokens by which the server recognizes this browser. They survive a sign-out. */
  const deviceName = `${name}:device`;
  const deviceTokens = async (): Promise<Device> => {
    try {
      return JSON.parse((await read(deviceName)) as string) ?? {};
    } catch {
      return {};
    }
  };
  const keepDevice = async ({ device_token, trusted_device_token }: Device) => {
    // `undefined` is not in the JSON, so it replaces nothing.
    const tokens = JSON.stringify({ device_token, trusted_device_token });
    try {
      if (isShared && !isCookie && tokens !== '{}')
        await storage().setItem(deviceName, JSON.stringify({ ...(await deviceTokens()), ...JSON.parse(tokens) }));
    } catch {
      // The next sign-in is one on a new device.
    }
  };

  /** Listeners are code of the page: those of an event during a lock run when it is free. */
  let isLocked = false;
  const unsent: [string, never][] = [];
  const flush = () => {
    isLocked = false;
    for (let event; (event = unsent.shift());)
      for (const one of Array.from(listeners))
        try {
          if (one[0] === event[0] && listeners.has(one)) one[1](event[1]);
        } catch (error) {
          // It is reported as an error of the page, and stops nothing.
          setTimeout(() => {
            throw error;
          });
        }
  };
  const emit = <K extends keyof AuthClientEvents>(event: K, detail: AuthClientEvents[K]) => {
    unsent.push([event, detail as never]);
    if (!isLocked) flush();
  };

  /**
   * Runs `work` while neither this tab nor another one runs any (Web Locks). Calls must not be nested. Without Web Locks (no
   * TLS, and not localhost; or the browser refuses them together with storage), only the work of this tab takes turns, and
   * the grace period of the server accepts two tabs at once.
   */
  const locked = <T>(work: () => Promise<T>): Promise<T> => {
    let running: Promise<T> | undefined;
    const run = () => {
      isLocked = true;
      return (running = work());
    };
    const take = (how: LockOptions) =>
      navigator.locks.request(name, how, () => run().finally(() => pause(BROADCAST_MS)));
    const turn = async () => {
      try {
        if (isTab) {
          await whenShown();
          await take({ signal: AbortSignal.timeout(LONGEST_WORK_MS + (host ? LONGEST_CALLS_MS : 0)) }).catch(
            () => running ?? take({ steal: true }),
          );
        }
      } catch {
        // The work has failed, or there is no lock.
      }
      return (running ?? run()).finally(flush);
    };
    // The next one runs whether this one succeeds or not.
    return (queue = queue.then(turn, turn)) as Promise<T>;
  };

  const isRefused = () => since(refused) < retryAfter;

  /** Milliseconds until a renewal is due and allowed. */
  const left = () =>
    Math.max(current ? current.lifetime - marginOf(current) - since(issued) : 0, retryAfter - since(refused));

  const tell = (message: Message) => {
    // A BroadcastChannel reaches its own origin only and takes no target.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    channel?.postMessage(message);
  };

  /** At least a second, so that a lifetime of nothing causes no flood; at most what a timer of a browser can count. */
  const schedule = (wait: number) => {
    clearTimeout(timer);
    if (closed.signal.aborted) return;
    timer = setTimeout(check, Math.min(wait > 1000 ? wait : 1000, DAY_MS));
    // In Node a timer is an object, which would keep the process alive.
    Object(timer).unref?.();
  };

  /** Renews the session if that is due. */
  const check = () => {
    if (!current && !isAwaited) return;
    const wait = left();
    if (wait > 0) schedule(wait);
    else renew(current).catch(() => undefined);
  };

  const use = (session: AuthSession, reason: SignedInReason, otherTab: boolean) => {
    const isSame = current?.claims.fid === session.claims.fid;
    current = session;
    issued = momentAt(session.expiresAt - session.lifetime);
    isAwaited = false;
    failures = 0;
    retryAfter = 0;
    schedule(left());
    if (isSame) emit('renewed', { session, otherTab });
    else emit('signedIn', { session, reason, otherTab });
  };

  /**
   * Sends a request, takes the tokens of its answer, and gives the access token to the other tabs.
   *
   * @returns null; or the answer, if it has no tokens
   */
  const exchange = async <T>(
    path: string,
    body: unknown,
    reason: SignedInReason,
    more = init,
  ): Promise<(Tokens & T) | null> => {
    const sentAt = Date.now();
    const answer = await send<Tokens & T>(url + path, body, more, carrier);
    if (!answer?.access_token) return answer;
    const { access_token: token, refresh_token, expires_in } = answer;
    if (isCookie === !!refresh_token)
      throw new Error(`The server is ${isCookie ? 'not ' : ''}in cookie mode: see \`refreshToken\`.`);
    const lifetime = expires_in * 1000;
    // The clock of the server has no part in it: only differences of the local clock are used.
    const session = { token, claims: claimsOf(token), lifetime, expiresAt: sentAt + lifetime };
    await store(isCookie ? '1' : refresh_token!);
    await keepDevice(answer);
    tell({ session, reason, kept });
    use(session, reason, false);
    return null;
  };

  /**
   * The reasons of sign-outs that were sent, by session. The server may refuse other requests of the session before it has
   * answered the sign-out: then the session has not `ended`.
   */
  const reasons: Record<string, SignedOutReason | undefined> = {};
  /** Says in all tabs why a session will end; without a reason, that it will not. */
  const announce = (ended: string, reason?: SignedOutReason, isOver = false) => {
    reasons[ended] = reason;
    tell({ ended, reason, isOver });
  };

  const drop = async (cause: SignedOutReason, otherTab = false) => {
    const session = current;
    // Under the lock: it is heard after the session is dropped.
    if (isAwaited && !session) emit('notRestored', { reason: cause, otherTab });
    current = null;
    isAwaited = false;
    clearTimeout(timer);
    kept = null;
    if (!otherTab) await store(null);
    if (!session) return;
    const { fid } = session.claims;
    const reason = reasons[fid] ?? cause;
    if (!otherTab) announce(fid, reason, true);
    emit('signedOut', { session, reason, otherTab });
  };

  /**
   * Renews the session, unless `stale` is no longer the current one because another tab or call has renewed it.
   *
   * Only the answers 401 and 403 of the server end the session. @throws AuthError for any other failure: the session
   * continues. Until the end of `Retry-After`, it throws the refusal again
   */
  const renewNow = (stale: AuthSession | null): Promise<void> =>
    locked(async () => {
      if (current !== stale) return;
      if (isRefused()) throw refusal;
      const refresh = async () => {
        const token = isCookie || (await stored());
        // Another tab has signed out, and its message is on the way. In cookie mode the server knows.
        if (!token) return drop('logout', true);
        await exchange('/refresh', isCookie ? undefined : { refresh_token: token }, 'restored');
        // The answer had no tokens: it is not of the server.
        if (current === stale) throw unreachable();
      };
      try {
        await refresh().catch((error: AuthError) => {
          if (error.status !== 0) throw error;
          // The server may have rotated the token before the connection broke. Inside its grace period, the same token
          // gets the same answer again.
          return pause(1000).then(refresh);
        });
      } catch (error) {
        refusal = error as AuthError;
        const { status, reason } = refusal;
        if (REFUSED.includes(status) && [null, KEY_LOST].includes(reason))
          return drop((reason as SignedOutReason | null) ?? 'ended');
        const wait = waitAfter(refusal, failures++);
        refused = momentAt();
        retryAfter = refusal.retryAfter ? wait : 0;
        schedule(wait);
        throw refusal;
      }
    });

  /** As {@link renewNow}. Calls that wait for the same renewal share its request, and its failure. */
  const renew = (stale: AuthSession | null): Promise<void> => {
    if (!renewals.has(stale))
      renewals.set(
        stale,
        renewNow(stale).finally(() => renewals.delete(stale)),
      );
    return renewals.get(stale)!;
  };

  const hear = ({ data }: MessageEvent<Message>) => {
    if ('session' in data) {
      kept = data.kept;
      use(data.session, data.reason, true);
    } else if (!data.isOver) reasons[data.ended] = data.reason;
    else if (current?.claims.fid === data.ended) void drop(data.reason!, true);
  };
  try {
    if (isTab) (channel = new BroadcastChannel(name)).addEventListener('message', hear);
  } catch {
    // An old browser has none, and Firefox refuses it together with storage: the tabs learn nothing from each other.
  }
  // The timers of a tab do not run while the machine sleeps, or while the page is in the cache for the back button.
  for (const event of ['visibilitychange', 'online', 'pageshow'])
    globalThis.window?.addEventListener?.(event, check, { signal: closed.signal });

  return {
    init,
    host,
    carrier,
    get live() {
      return current;
    },
    on: <K extends keyof AuthClientEvents>(event: K, listener: (detail: AuthClientEvents[K]) => void) => {
      const one: [string, typeof listener] = [event, listener];
      listeners.add(one);
      return () => void listeners.delete(one);
    },
    renew,
    /** Renews the session with a request that is sent after the call. */
    async renewAgain() {
      await renewals.get(current)?.catch(() => undefined);
      await renew(current);
      return current;
    },
    async restore() {
      if (!current) {
        await (reading = stored()
          .catch(() => true)
          .then((value) => void (isAwaited = !!value)));
        if (isAwaited) await renew(null);
      }
      return current;
    },
    /** The session for the next request; a token that expires soon is renewed first. */
    async fresh() {
      await reading;
      const isDue = current ? current.lifetime - since(issued) < Math.min(SOON_MS, current.lifetime / 10) : isAwaited;
      if (isDue) await renew(current);
      return current;
    },
    /** Whether it is the current session, and its token is so new that a refusal probably has another reason. */
    isFresh: (session: AuthSession) => session === current && since(issued) < marginOf(session),
    /** Sends a request that signs in. @returns null; or the answer, if it has no tokens */
    signInAt: <T>(path: string, body: object) =>
      locked(async () => {
        const { device_token, ...trust } = await deviceTokens();
        const headers = { ...(device_token && { 'X-Svc-Device': device_token }) };
        return exchange<T>(path, path === '/login' ? { ...trust, ...body } : body, 'login', { ...init, headers });
      }),
    announce,
    /** Forgets, in all tabs, a session that the server has ended. */
    forget: (fid: string, reason: SignedOutReason) =>
      locked(async () => {
        if (current?.claims.fid === fid) await drop(reason);
      }),
    close() {
      closed.abort();
      clearTimeout(timer);
      channel?.close();
      channel = undefined;
    },
  };
}
