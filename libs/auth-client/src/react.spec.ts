import { emptyPage } from './dom.testkit.js';
import { StrictMode, act, createElement } from 'react';
import { type Root, createRoot, hydrateRoot } from 'react-dom/client';
import { renderToString } from 'react-dom/server';
import { AuthProvider, useAuth, useSession } from './react.js';
import { FakeServer, LOGIN } from './server.testkit.js';
import type { AuthClient, AuthClientOptions } from './types.js';

/** What a component shows of the session. */
function Greeting() {
  const { session, isLoading, error } = useSession();
  return isLoading ? 'Loading' : session ? `Hello, ${session.claims.sub}` : `Sign in ${error?.reason ?? ''}`.trim();
}

const renderings = { session: 0, auth: 0 };
function CountsSessions() {
  useSession();
  renderings.session++;
  return null;
}
function CountsClients() {
  useAuth();
  renderings.auth++;
  return null;
}

function Failure() {
  return useSession().error?.message ?? null;
}

describe('the entry for React', () => {
  let server: FakeServer;
  let main: HTMLElement;
  let root: Root;
  let subscriptions: number;

  beforeEach(() => {
    [server, main, subscriptions] = [new FakeServer(), emptyPage(), 0];
    Object.assign(renderings, { session: 0, auth: 0 });
  });
  afterEach(async () => {
    await act(() => root?.unmount());
    server.stop();
  });

  /** A client whose subscriptions are counted. */
  const client = (options: AuthClientOptions = { refreshToken: 'localStorage' }): AuthClient => {
    const auth = server.client(options);
    const { on } = auth;
    auth.on = (event, listener) => {
      subscriptions++;
      const end = on(event, listener);
      return () => {
        subscriptions--;
        end();
      };
    };
    return auth;
  };
  /** A client of a page that is opened after a sign-in. */
  const returning = async (): Promise<AuthClient> => {
    const earlier = server.client({ refreshToken: 'localStorage' });
    await earlier.login(LOGIN);
    earlier.close();
    return client();
  };
  const tree = (auth: AuthClient, ...components: (() => string | null)[]) =>
    createElement(
      StrictMode,
      null,
      createElement(AuthProvider, { auth }, ...components.map((one, key) => createElement(one, { key }))),
    );
  const render = async (auth: AuthClient, ...components: (() => string | null)[]) => {
    root ??= createRoot(main);
    await act(async () => root.render(tree(auth, ...components)));
  };
  const open = async (auth: AuthClient, ...components: (() => string | null)[]) => {
    root = createRoot(main);
    await render(auth, ...components);
  };
  const shows = () => main.textContent;

  it('shows that it is loading, then restores the session with one request in StrictMode, for all components', async () => {
    const auth = await returning();
    root = createRoot(main);
    act(() => root.render(tree(auth, Greeting, Greeting)));
    expect(shows()).toBe('LoadingLoading');
    await act(async () => void (await auth.restore()));
    expect(shows()).toBe('Hello, adaHello, ada');
    expect(server.count('/auth/refresh')).toBe(1);
  });

  it('shows the form without a session, and sends nothing', async () => {
    await open(client(), Greeting);
    expect([shows(), server.seen]).toEqual(['Sign in', []]);
  });

  it('follows the session: sign-in, sign-out, and what another tab does', async () => {
    const auth = client();
    await open(auth, Greeting);
    await act(() => auth.login(LOGIN));
    expect(shows()).toBe('Hello, ada');
    await act(() => auth.logout());
    expect(shows()).toBe('Sign in');
    const isTold = new Promise((resolve) => {
      auth.on('signedIn', resolve);
    });
    await act(async () => {
      await server.client({ refreshToken: 'localStorage' }).login({ email: 'grace' });
      await isTold;
    });
    expect(shows()).toBe('Hello, grace');
  });

  it('shows no error any more when the server ends the session that could not be restored', async () => {
    const auth = await returning();
    server.answer = () => ({ status: 503, body: { message: 'Down' } });
    await open(auth, Failure);
    expect(shows()).toBe('Down');
    server.answer = () => undefined;
    server.revoke();
    await act(() => auth.renew());
    expect(shows()).toBe('');
  });

  it('renders components that use the client alone only once: the session changes, not the client', async () => {
    const auth = client();
    await open(auth, CountsSessions, CountsClients);
    const before = { ...renderings };
    await act(() => auth.login(LOGIN));
    await act(() => auth.renew());
    expect(renderings.auth).toBe(before.auth);
    // Two changes, and StrictMode renders twice.
    expect(renderings.session).toBe(before.session + 4);
  });

  it('signs in once for a form that is sent twice', async () => {
    function Form() {
      const auth = useAuth();
      return createElement('button', { onClick: () => void auth.login(LOGIN) } as object) as never;
    }
    const auth = client();
    const signedIn = new Promise((resolve) => auth.on('signedIn', resolve));
    await open(auth, Greeting, Form);
    await act(async () => {
      main.querySelector('button')!.click();
      main.querySelector('button')!.click();
      await signedIn;
    });
    expect([shows(), server.count('/auth/login')]).toEqual(['Hello, ada', 1]);
  });

  it('leaves no subscription, and restores nothing again when it is mounted again', async () => {
    const auth = await returning();
    const restore = jest.spyOn(auth, 'restore');
    await open(auth, Greeting, Greeting);
    expect(subscriptions).toBe(8);
    await act(() => root.unmount());
    expect(subscriptions).toBe(0);
    await open(auth, Greeting);
    expect([shows(), server.count('/auth/refresh'), subscriptions]).toEqual(['Hello, ada', 1, 4]);
    expect(restore).toHaveBeenCalledTimes(1);
  });

  it('restores the session of each client that it is given, also if no component shows it', async () => {
    await open(client({ refreshToken: 'memory' }), CountsClients);
    await render(await returning(), CountsClients);
    expect(server.count('/auth/refresh')).toBe(1);
  });

  it('shows another client that is given to the provider, and leaves the former one', async () => {
    const [customers, staff] = [client(), client({ url: 'https://api.test/auth', refreshToken: 'memory' })];
    await open(customers, Greeting);
    await act(() => staff.login({ email: 'grace' }));
    await render(staff, Greeting);
    expect([shows(), subscriptions]).toEqual(['Hello, grace', 4]);
    await act(() => customers.login(LOGIN));
    expect(shows()).toBe('Hello, grace');
  });

  it('says why a session could not be restored, until a user is signed in', async () => {
    const auth = await returning();
    server.answer = () => ({ status: 503, body: { message: 'Later.', reason: 'busy' } });
    await open(auth, Greeting);
    expect(shows()).toBe('Sign in busy');
    server.answer = () => undefined;
    await act(() => auth.login(LOGIN));
    await act(() => auth.logout());
    expect(shows()).toBe('Sign in');
  });

  it('renders on a server what the browser renders first, without a request, a subscription or a difference', async () => {
    const auth = await returning();
    const html = renderToString(tree(auth, Greeting));
    expect([html, server.count('/auth/refresh'), subscriptions]).toEqual(['Loading', 0, 0]);
    main.innerHTML = html;
    const differences: unknown[] = [];
    await act(async () => {
      root = hydrateRoot(main, tree(auth, Greeting), { onRecoverableError: (error) => differences.push(error) });
    });
    expect([shows(), differences]).toEqual(['Hello, ada', []]);
  });

  it('names the missing provider', () => {
    expect(() => renderToString(createElement(Greeting))).toThrow('There is no <AuthProvider> above this component.');
  });
});
