/**
 * Sign-in with an account at Google, Microsoft or another OpenID provider (`features.identities`). Load it beside the client, on
 * the pages that need it.
 *
 * ```ts
 * import { createAuthClient } from '@svc/auth-client';
 * import { finishSignIn, signInWith } from '@svc/auth-client/identities';
 *
 * const auth = createAuthClient();
 * // In a click:
 * const answer = await signInWith(auth, 'google', { popup: true });
 * // On the page to which the provider returns:
 * const finished = await finishSignIn(auth);
 * ```
 *
 * @module @svc/auth-client/identities
 */

import type { AuthClient, EnrolmentChallenge, LoginChallenge, Registration, SignInFields } from './types.js';

/** An account at a provider that the user has linked. Times are in ISO 8601. */
export interface LinkedIdentity {
  id: string;
  /** The name of the provider in the options of the server. */
  provider: string;
  /** The address at the provider, as it was at the last sign-in. */
  email: string | null;
  linked_at: string;
  last_used_at: string | null;
  /** Whether the provider can confirm actions: see {@link confirmWith}. */
  can_confirm: boolean;
}

/** No account has this identity: ask for `fields`, and call {@link registerWith}. */
export interface RegistrationRequired {
  status: 'registration-required';
  two_factor?: undefined;
  enrolment_required?: undefined;
  /** In cookie mode it is in a cookie. */
  continuation_token?: string;
  /** Seconds until the user has to begin again. */
  expires_in: number;
  /** The fields that the user has to fill in. */
  fields: string[];
  /** What the provider says, to fill the form with. */
  name: string | null;
  email: string | null;
}

/** Null if the user is signed in. A {@link Registration} if there is a new account, and no session yet. */
export type IdentityAnswer = LoginChallenge | EnrolmentChallenge | RegistrationRequired | Registration | null;

/** How the user gets to the provider. */
export interface ProviderOptions {
  /**
   * Whether the provider is in a window of its own, and this page stays. Call the function in a click then. Where the browser
   * blocks such windows, this page goes to the provider. Default: false.
   */
  popup?: boolean;
  /** Where the provider returns to: one of its `redirectUris`. Default: the first of them. */
  redirectUri?: string;
  /** Ends the wait for the window, and closes it. */
  signal?: AbortSignal;
}

/**
 * What {@link finishSignIn} has done.
 *
 * - `handed-over`: the page that opened this window has the answer. The browser closes this window, if it can.
 * - `lost`: this browser or this tab has begun nothing, or has finished it. The user has to begin again.
 */
export type Finished =
  | { way: 'sign-in'; provider: string; answer: IdentityAnswer }
  | { way: 'link'; provider: string; answer: LinkedIdentity }
  | { way: 'confirm'; provider: string; answer?: void }
  | { way: 'handed-over' | 'lost'; provider?: undefined; answer?: undefined };

/** What the tab keeps in `sessionStorage` while the user is at the provider. */
interface Attempt extends SignInFields {
  way: 'sign-in' | 'link' | 'confirm';
  provider: string;
  /** In body mode, what binds the attempt to this browser. */
  token: string | undefined;
  /** In a window, the name of the channel to the page that has opened it. */
  channel: string | undefined;
}

/** The answer of a route that begins an attempt. */
interface Begun {
  authorization_url: string;
  attempt_token?: string;
}

/** The longest wait for the page that has opened a window. It may be closed, or frozen in the background. */
const ANSWER_MS = 1000;

const nameOf = (auth: AuthClient): string => `svc-auth:${auth.routes.url}:identity`;
const pathOf = (name: string, more = ''): string => `/identities/${encodeURIComponent(name)}${more}`;
const left = () => new DOMException('The user has left the provider.', 'AbortError');

/** Sends what the page of the callback has received, and which page that is: the server refuses that of another provider. */
async function complete(auth: AuthClient, attempt: Attempt, address: string): Promise<unknown> {
  const { way, provider, token, remember } = attempt;
  const { call, confirm, signIn } = auth.routes;
  const { origin, pathname, search: parameters } = new URL(address);
  const body = { parameters, redirect_uri: origin + pathname, attempt_token: token };
  if (way === 'sign-in') return signIn(pathOf(provider, '/callback'), { ...body, remember });
  // The page has been loaded anew.
  if (!auth.session) await auth.restore();
  return way === 'link'
    ? call('POST', pathOf(provider, '/link/callback'), body)
    : confirm('/confirm-identity/callback', { provider, ...body });
}

/** Opens a window in the click, before a request: a browser blocks a later one. @returns undefined where there is none */
function openWindow(): { child: Window; channel: BroadcastChannel } | undefined {
  let channel;
  try {
    // Of this origin only. A message to `opener` would not arrive: a page with `Cross-Origin-Opener-Policy` loses its windows.
    channel = new BroadcastChannel(`svc-auth:${Math.random()}`);
    const child = open('', '_blank', 'popup,width=520,height=680');
    if (child) return { child, channel };
  } catch {
    // Firefox refuses channels together with storage.
  }
  channel?.close();
  return undefined;
}

/** Without an address it says that the other one is heard. */
const say = (channel: BroadcastChannel, address = '') =>
  // A BroadcastChannel reaches its own origin only and takes no target.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  channel.postMessage(address);

/** Waits until the page of the callback, in the window, has sent its address. */
const received = ({ child, channel }: { child: Window; channel: BroadcastChannel }, signal?: AbortSignal) => {
  const ended = new AbortController();
  return new Promise<string>((resolve, reject) => {
    channel.addEventListener('message', ({ data }: MessageEvent<string>) => {
      say(channel);
      if (data) resolve(data);
    });
    // The window of a page with `Cross-Origin-Opener-Policy` counts as closed. One that is still open completes without this page.
    addEventListener('focus', () => child.closed && reject(left()), ended);
    signal?.addEventListener('abort', () => reject(signal.reason), ended);
    if (signal?.aborted) reject(signal.reason);
  }).finally(() => {
    ended.abort();
    channel.close();
  });
};

async function begin<T>(
  auth: AuthClient,
  way: Attempt['way'],
  provider: string,
  { popup, redirectUri, signal, remember }: ProviderOptions & SignInFields = {},
): Promise<T> {
  const { call, post } = auth.routes;
  const body = { redirect_uri: redirectUri };
  // Before a link the user may have to confirm the identity on this page, with clicks of its own.
  let opened = popup && way !== 'link' ? openWindow() : undefined;
  try {
    const begun = await (way === 'sign-in'
      ? post<Begun>(pathOf(provider), body)
      : way === 'link'
        ? call<Begun>('POST', pathOf(provider, '/link'), body)
        : call<Begun>('POST', '/confirm-identity', { provider, ...body }));
    if (popup) opened ??= openWindow();
    const { child, channel } = opened ?? {};
    const attempt: Attempt = { way, provider, token: begun.attempt_token, remember, channel: channel?.name };
    (child ?? globalThis).sessionStorage.setItem(nameOf(auth), JSON.stringify(attempt));
    if (!opened) {
      location.assign(begun.authorization_url);
      // The user comes back with the button of the browser.
      return await new Promise((_, reject) => addEventListener('pageshow', () => reject(left()), { once: true }));
    }
    // The provider must not be able to send this page elsewhere.
    opened.child.opener = null;
    opened.child.location.replace(begun.authorization_url);
    return (await complete(auth, attempt, await received(opened, signal))) as T;
  } catch (error) {
    opened?.channel.close();
    opened?.child.close();
    throw error;
  }
}

/** In a window: hands its address over to the page that has opened it. @returns whether that page has answered */
const handOver = (name: string, address: string) =>
  new Promise<boolean>((resolve) => {
    const channel = new BroadcastChannel(name);
    let isSent = false;
    const timer = setTimeout(() => {
      channel.close();
      resolve(false);
    }, ANSWER_MS);
    channel.addEventListener('message', () => {
      if (isSent) {
        // The second answer: it has arrived.
        channel.close();
        return close();
      }
      clearTimeout(timer);
      isSent = true;
      say(channel, address);
      resolve(true);
    });
    say(channel);
  });

/**
 * Signs in at a provider. Without `popup`, the page goes to the provider and {@link finishSignIn} has the answer; the promise is
 * rejected if the user comes back with the button of the browser.
 *
 * @param provider its name in the options of the server
 * @returns null if the user is signed in; a challenge, as after a password; or what is missing for a new account
 * @throws AuthError if the server or the provider refuses; DOMException `AbortError` if the user closes the window or comes
 *   back: show no message; any DOMException of a browser that refuses storage
 */
export const signInWith = (
  auth: AuthClient,
  provider: string,
  options?: ProviderOptions & SignInFields,
): Promise<IdentityAnswer> => begin(auth, 'sign-in', provider, options);

/** Links an account at a provider with that of the signed-in user. Asks for a confirmation. Otherwise as {@link signInWith}. */
export const linkWith = (auth: AuthClient, provider: string, options?: ProviderOptions): Promise<LinkedIdentity> =>
  begin(auth, 'link', provider, options);

/**
 * Confirms the identity of the signed-in user with a new sign-in at a provider, for the option `confirm` of the client. Use
 * `popup`: a page that goes to the provider loses the request that has asked. Otherwise as {@link signInWith}.
 */
export const confirmWith = (auth: AuthClient, provider: string, options?: ProviderOptions): Promise<void> =>
  begin(auth, 'confirm', provider, options);

/**
 * Finishes what {@link signInWith}, {@link linkWith} or {@link confirmWith} has begun, on the page to which the provider returns.
 * Call it before anything else on that page: it removes the parameters from the address and from the history.
 *
 * @param address that to which the provider has returned, if the page has changed it itself. After a 503 the same may be accepted once
 *   more: if not, the user begins again
 * @returns null if the address has no such parameters
 * @throws AuthError as {@link signInWith}
 */
export async function finishSignIn(auth: AuthClient, address?: string): Promise<Finished | null> {
  const given = address ?? location.href;
  if (!/[?&](state|handle)=/.test(given)) return null;
  if (address === undefined) history.replaceState(history.state, '', location.pathname + location.hash);
  const name = nameOf(auth);
  let attempt: Attempt | null = null;
  try {
    attempt = JSON.parse(sessionStorage.getItem(name)!);
  } catch {
    // A browser that refuses storage has begun nothing.
  }
  if (!attempt) return { way: 'lost' };
  const remove = () => sessionStorage.removeItem(name);
  const { way, provider, channel } = attempt;
  try {
    if (channel && (await handOver(channel, given))) {
      remove();
      return { way: 'handed-over' };
    }
    const answer = await complete(auth, attempt, given);
    remove();
    return { way, provider, answer } as Finished;
  } catch (error) {
    if ((error as { status?: number }).status === 422) remove();
    throw error;
  }
}

/**
 * Creates the account of an identity that no account has.
 *
 * @param registration the answer of {@link signInWith} or {@link finishSignIn}
 * @param fields those that it names
 * @returns as `register` of the client
 */
export const registerWith = (
  auth: AuthClient,
  { continuation_token }: RegistrationRequired,
  fields: Record<string, unknown> & SignInFields,
): Promise<LoginChallenge | EnrolmentChallenge | Registration | null> =>
  auth.routes.signIn('/identities/register', { ...fields, continuation_token });

/** Lists the linked accounts of the user. */
export const linkedIdentities = async (auth: AuthClient): Promise<LinkedIdentity[]> =>
  (await auth.routes.call<{ identities: LinkedIdentity[] }>('GET', '/identities')).identities;

/** Unlinks an account. Asks for a confirmation. The last way to sign in stays: status 409. */
export const unlink = (auth: AuthClient, id: string): Promise<void> => auth.routes.call('DELETE', pathOf(id));

/**
 * Ends the session, and then the one at the provider by which the user has signed in: the page goes there if the server has an
 * address for it.
 */
export async function endSession(auth: AuthClient): Promise<void> {
  const { call } = auth.routes;
  const { end_session_url: url } = await call<{ end_session_url: string | null }>('POST', '/identities/end-session');
  // The session has ended: this says so in all tabs.
  await auth.logout();
  if (url) location.assign(url);
}
