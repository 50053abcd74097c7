import {
  confirmWith,
  endSession,
  finishSignIn,
  linkWith,
  linkedIdentities,
  registerWith,
  signInWith,
  unlink,
} from './identities.js';
import { FakeServer, ORDERS, URL_OF_GUARD, eventsOf, pass, useClock } from './server.testkit.js';
import { Storage, define } from './tabs.testkit.js';
import type { AuthClient } from './types.js';

const PROVIDER = 'https://id.test/authorize?state=s';
const BEGUN = { body: { authorization_url: PROVIDER, expires_in: 600, attempt_token: 'a' } };
const TOKENS = {
  body: { access_token: 'a.eyJzdWIiOiJhZGEiLCJmaWQiOiJmIn0.c', refresh_token: 'token.1', expires_in: 900 },
};
const GIVEN = '?code=c&state=s&iss=https%3A%2F%2Fid.test';
const PAGE = 'https://shop.test/signed-in';
const NAME = `svc-auth:${URL_OF_GUARD}:identity`;

/** A window that the page has opened. */
class Child {
  readonly sessionStorage = new Storage();
  opener: unknown = 'the page';
  closed = false;
  readonly location = { href: '', replace: (url: string) => void (this.location.href = url) };
  close(): void {
    this.closed = true;
  }
}

describe('identities', () => {
  let server: FakeServer;
  let auth: AuthClient;
  /** What happened in the page, in order. */
  let steps: string[];
  let page: EventTarget;
  let storage: Storage;
  let answers: Record<string, object | undefined>;

  const opens = (address = '/'): void => {
    const { href, pathname, search, hash } = new URL(address, 'https://shop.test');
    const assign = (url: string) => void steps.push(`to ${url}`);
    define('location', { href, pathname, search, hash, assign });
    const replaceState = (_: unknown, __: string, url: string) => {
      steps.push(`is ${url}`);
      opens(url);
    };
    define('history', { state: null, replaceState });
    define('sessionStorage', storage);
  };
  const opensWindow = (child: Child | null) =>
    define('open', (...args: unknown[]) => (steps.push(`opens ${args[1]}`), child));
  const turns = async (count = 40) => {
    for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
  };

  beforeEach(() => {
    [server, steps, page, storage] = [new FakeServer(), [], new EventTarget(), new Storage()];
    auth = server.client();
    answers = { '/auth/identities/google': BEGUN };
    server.answer = ({ path }) => {
      if (path.includes('identit')) steps.push(path);
      return answers[path] as never;
    };
    define('addEventListener', page.addEventListener.bind(page));
    define('close', () => steps.push('closes'));
    opens();
  });
  afterEach(() => {
    server.stop();
    for (const name of ['addEventListener', 'close', 'location', 'history', 'sessionStorage', 'open'])
      define(name, undefined);
  });

  describe('without a window', () => {
    /** Begins, and returns on the page of the callback. */
    const returns = async (begin: () => Promise<unknown>, given = GIVEN) => {
      void begin().catch(() => undefined);
      await turns();
      expect(steps.at(-1)).toBe(`to ${PROVIDER}`);
      steps.length = 0;
      opens(`/signed-in${given}#/view`);
    };

    it('sign in on the page to which the provider returns, whose address loses the parameters first', async () => {
      await returns(() => signInWith(auth, 'google', { remember: false, redirectUri: 'https://shop.test/signed-in' }));
      expect(server.last.body).toEqual({ redirect_uri: 'https://shop.test/signed-in' });
      answers['/auth/identities/google/callback'] = TOKENS;
      expect(await finishSignIn(auth)).toEqual({ way: 'sign-in', provider: 'google', answer: null });
      expect(steps).toEqual(['is /signed-in#/view', '/auth/identities/google/callback']);
      expect(server.last.body).toEqual({ parameters: GIVEN, redirect_uri: PAGE, attempt_token: 'a', remember: false });
      expect(auth.session!.claims.sub).toBe('ada');
      expect(storage.items.size).toBe(0);
      // As an effect of React in its strict mode.
      expect(await finishSignIn(auth)).toBeNull();
    });

    it('say at which page the answer came, which may be that of another provider', async () => {
      await returns(() => signInWith(auth, 'google'));
      opens(`/signed-in/entra${GIVEN}`);
      answers['/auth/identities/google/callback'] = TOKENS;
      await finishSignIn(auth);
      expect(server.last.body).toMatchObject({ redirect_uri: `${PAGE}/entra` });
    });

    it('take the handle of a provider that sends a form', async () => {
      await returns(() => signInWith(auth, 'google'), '?handle=h');
      answers['/auth/identities/google/callback'] = TOKENS;
      expect(await finishSignIn(auth)).toMatchObject({ answer: null });
      expect(server.last.body).toEqual({ parameters: '?handle=h', redirect_uri: PAGE, attempt_token: 'a' });
    });

    it.each<[string, string | null]>([
      ['/', null],
      ['/?page=2&estate=3', null],
      ['/signed-in?error=access_denied&state=s', '/signed-in'],
      ['/signed-in?handle=h', '/signed-in'],
    ])('do nothing at the address %s that this tab has not begun', async (address, left) => {
      opens(address);
      expect(await finishSignIn(auth)).toEqual(left && { way: 'lost' });
      expect(steps).toEqual(left ? [`is ${left}`] : []);
      expect(server.seen).toEqual([]);
    });

    it.each([503, 429, 422])('keep the attempt after the status %s, unless it is that of a refusal', async (status) => {
      await returns(() => signInWith(auth, 'google'));
      answers['/auth/identities/google/callback'] = { status, body: { message: 'Not now.' } };
      await expect(finishSignIn(auth)).rejects.toMatchObject({ status });
      answers['/auth/identities/google/callback'] = TOKENS;
      expect(await finishSignIn(auth, PAGE + GIVEN)).toMatchObject({ way: status === 422 ? 'lost' : 'sign-in' });
    });

    it('ask for what a new account needs, and create it', async () => {
      await returns(() => signInWith(auth, 'google'));
      const required = { status: 'registration-required', continuation_token: 'c', expires_in: 600, fields: ['name'] };
      answers['/auth/identities/google/callback'] = { body: required };
      const finished = await finishSignIn(auth);
      expect(finished).toEqual({ way: 'sign-in', provider: 'google', answer: required });
      answers['/auth/identities/register'] = TOKENS;
      expect(await registerWith(auth, required as never, { name: 'Ada', remember: true })).toBeNull();
      expect(server.last.body).toEqual({ continuation_token: 'c', name: 'Ada', remember: true });
      expect(auth.session).not.toBeNull();
    });

    it('are linked in the session that is restored', async () => {
      await auth.login({ email: 'ada' });
      answers['/auth/identities/google/link'] = BEGUN;
      await returns(() => linkWith(auth, 'google'));
      const linked = {
        id: 'i',
        provider: 'google',
        email: null,
        linked_at: '2026-11-27',
        last_used_at: null,
        can_confirm: true,
      };
      answers['/auth/identities/google/link/callback'] = { status: 201, body: linked };
      expect(await finishSignIn(auth)).toEqual({ way: 'link', provider: 'google', answer: linked });
      expect(server.last.headers.get('Authorization')).toMatch(/^Bearer /);
      expect(server.last.body).toEqual({ parameters: GIVEN, redirect_uri: PAGE, attempt_token: 'a' });
    });

    it('reject when the user comes back with the button of the browser', async () => {
      const begun = signInWith(auth, 'google');
      await turns();
      page.dispatchEvent(new Event('pageshow'));
      await expect(begun).rejects.toMatchObject({ name: 'AbortError' });
    });

    it('reject where the browser refuses storage', async () => {
      Object.defineProperty(globalThis, 'sessionStorage', {
        get: () => {
          throw new DOMException('No.', 'SecurityError');
        },
        configurable: true,
      });
      await expect(signInWith(auth, 'google')).rejects.toMatchObject({ name: 'SecurityError' });
      opens(`/signed-in${GIVEN}`);
    });
  });

  describe('in a window', () => {
    let child: Child;

    beforeEach(() => opensWindow((child = new Child())));

    /** The window has returned to the page of the callback. */
    const returnsInWindow = async (client = server.client()) => {
      await turns();
      expect([child.location.href, child.opener]).toEqual([PROVIDER, null]);
      storage = child.sessionStorage;
      opens(`/signed-in${GIVEN}`);
      return finishSignIn(client);
    };

    it('sign in the page that has opened it in the click, and the window closes', async () => {
      const begun = signInWith(auth, 'google', { popup: true });
      expect(steps[0]).toBe('opens _blank');
      answers['/auth/identities/google/callback'] = TOKENS;
      expect(await returnsInWindow()).toEqual({ way: 'handed-over' });
      expect(await begun).toBeNull();
      await turns();
      expect(steps).toContain('closes');
      expect(server.last.body).toEqual({ parameters: GIVEN, redirect_uri: PAGE, attempt_token: 'a' });
      expect(server.count('/auth/identities/google/callback')).toBe(1);
      expect([auth.session!.claims.sub, child.sessionStorage.items.size]).toEqual(['ada', 0]);
    });

    it('keep two attempts apart', async () => {
      const first = signInWith(auth, 'google', { popup: true });
      await turns();
      const name = JSON.parse(child.sessionStorage.getItem(NAME)!).channel as string;
      opensWindow((child = new Child()));
      answers['/auth/identities/other'] = BEGUN;
      const second = signInWith(auth, 'other', { popup: true });
      answers['/auth/identities/other/callback'] = { body: { two_factor: true, challenge_token: 't', methods: [] } };
      expect(await returnsInWindow()).toEqual({ way: 'handed-over' });
      expect(await second).toMatchObject({ challenge_token: 't' });
      answers['/auth/identities/google/callback'] = TOKENS;
      storage.setItem(NAME, JSON.stringify({ channel: name }));
      expect(await finishSignIn(server.client(), PAGE + GIVEN)).toEqual({ way: 'handed-over' });
      expect(await first).toBeNull();
    });

    it('confirm the identity, for the requests that follow', async () => {
      await auth.login({ email: 'ada' });
      answers['/auth/confirm-identity'] = BEGUN;
      answers['/auth/confirm-identity/callback'] = { body: { confirmation_token: 'confirmed' } };
      const begun = confirmWith(auth, 'google', { popup: true });
      expect(await returnsInWindow()).toEqual({ way: 'handed-over' });
      await begun;
      expect(server.last.body).toEqual({
        provider: 'google',
        parameters: GIVEN,
        redirect_uri: PAGE,
        attempt_token: 'a',
      });
      await auth.request('DELETE', ORDERS);
      expect(server.last.headers.get('X-Svc-Confirmation')).toBe('confirmed');
    });

    it('are linked after the confirmation of this page, before which no window opens', async () => {
      let confirmed = false;
      const asking = server.client({
        confirm: async () => {
          expect(steps.filter((step) => step.startsWith('opens'))).toEqual([]);
          return (confirmed = true);
        },
      });
      await asking.login({ email: 'ada' });
      const refusal = {
        status: 423,
        headers: { 'WWW-Authenticate': 'Bearer error="insufficient_user_authentication"' },
      };
      server.answer = ({ path }) =>
        path === '/auth/identities/google/link'
          ? confirmed
            ? BEGUN
            : { ...refusal, body: { message: 'Confirm.' } }
          : path.endsWith('/link/callback')
            ? { status: 201, body: { id: 'i' } }
            : undefined;
      const begun = linkWith(asking, 'google', { popup: true });
      await returnsInWindow();
      expect(await begun).toEqual({ id: 'i' });
    });

    it('complete without the page that has opened it, if that does not answer', async () => {
      useClock();
      void signInWith(auth, 'google', { popup: true, remember: true }).catch(() => undefined);
      await turns();
      // The user has closed the page, or has come back to it.
      child.closed = true;
      page.dispatchEvent(new Event('focus'));
      await turns();
      child.closed = false;
      answers['/auth/identities/google/callback'] = TOKENS;
      const other = server.client();
      const finished = returnsInWindow(other);
      await turns(100);
      await pass(1000);
      expect(await finished).toEqual({ way: 'sign-in', provider: 'google', answer: null });
      expect(server.last.body).toEqual({ parameters: GIVEN, redirect_uri: PAGE, attempt_token: 'a', remember: true });
      expect([other.session !== null, auth.session]).toEqual([true, null]);
      jest.useRealTimers();
    });

    it('reject if the user closes it, or the page ends the wait', async () => {
      const closed = signInWith(auth, 'google', { popup: true });
      await turns();
      page.dispatchEvent(new Event('focus'));
      child.close();
      page.dispatchEvent(new Event('focus'));
      await expect(closed).rejects.toMatchObject({ name: 'AbortError' });

      opensWindow((child = new Child()));
      const controller = new AbortController();
      const ended = signInWith(auth, 'google', { popup: true, signal: controller.signal });
      await turns();
      controller.abort();
      await expect(ended).rejects.toMatchObject({ name: 'AbortError' });
      expect(child.closed).toBe(true);
    });

    it('close it if the server refuses the attempt', async () => {
      answers['/auth/identities/google'] = { status: 503, body: { message: 'Not now.' } };
      await expect(signInWith(auth, 'google', { popup: true })).rejects.toMatchObject({ status: 503 });
      expect(child.closed).toBe(true);
    });

    it.each<[string, () => void]>([
      ['blocks the window', () => opensWindow(null)],
      [
        'refuses channels',
        () =>
          define('BroadcastChannel', function () {
            throw new DOMException('No.', 'SecurityError');
          }),
      ],
    ])('go to the provider in this page if the browser %s', async (_, refuse) => {
      const { BroadcastChannel } = globalThis;
      refuse();
      void signInWith(auth, 'google', { popup: true }).catch(() => undefined);
      await turns();
      define('BroadcastChannel', BroadcastChannel);
      expect(steps.at(-1)).toBe(`to ${PROVIDER}`);
      expect(JSON.parse(storage.getItem(NAME)!)).toEqual({ way: 'sign-in', provider: 'google', token: 'a' });
    });
  });

  it('are listed and unlinked', async () => {
    await auth.login({ email: 'ada' });
    answers['/auth/identities'] = { body: { identities: [{ id: 'a/b' }] } };
    expect(await linkedIdentities(auth)).toEqual([{ id: 'a/b' }]);
    await unlink(auth, 'a/b');
    expect(server.last).toMatchObject({ method: 'DELETE', path: '/auth/identities/a%2Fb' });
  });

  it.each(['https://id.test/end', null])('end the session, and then that of the provider at %s', async (url) => {
    await auth.login({ email: 'ada' });
    const events = eventsOf(auth);
    server.answer = ({ path }) => {
      if (path !== '/auth/identities/end-session') return undefined;
      server.revoke();
      return { body: { end_session_url: url } };
    };
    await endSession(auth);
    expect([auth.session, events]).toEqual([null, ['signedOut logout']]);
    expect(steps).toEqual(url ? [`to ${url}`] : []);
  });
});
