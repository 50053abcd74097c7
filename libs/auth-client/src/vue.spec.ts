import { emptyPage } from './dom.testkit.js';
import { transformSync } from '@swc/core';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type App, type Component, createApp, createSSRApp, h } from 'vue';
import { compileScript, parse } from 'vue/compiler-sfc';
import { FakeServer, LOGIN } from './server.testkit.js';
import type { AuthClient } from './types.js';
import { authPlugin, useAuth, useSession } from './vue.js';

const PAGE = join(__dirname, '../../../docs/recipes/vue.md');

/** The component of the page, compiled as Vite does it. */
function componentOfPage(): Component {
  const [, text] = /```html\n(.*?)```/s.exec(readFileSync(PAGE, 'utf8'))!;
  const { descriptor } = parse(text!);
  const { content } = compileScript(descriptor, { id: 'app', inlineTemplate: true });
  const { code } = transformSync(content, { module: { type: 'commonjs' }, jsc: { target: 'es2022' } });
  const exports: { default?: Component } = {};
  const modules: Record<string, unknown> = { vue: require('vue'), '@svc/auth-client/vue': { useAuth, useSession } };
  // The evaluated code is that of our own documentation.
  // eslint-disable-next-line no-new-func, typescript/no-implied-eval
  new Function('exports', 'require', code)(exports, (name: string) => modules[name]);
  return exports.default!;
}

/** Shows the session, and the form with a button. */
const Greeting = {
  setup() {
    const [session, auth] = [useSession(), useAuth()];
    return () => {
      const { session: current, isLoading, error } = session.value;
      const text = isLoading ? 'Loading' : current ? `Hello, ${current.claims.sub}` : `Sign in ${error?.reason ?? ''}`;
      return h('button', { onClick: () => auth.login(LOGIN) }, text.trim());
    };
  },
};

describe('the entry for Vue', () => {
  let server: FakeServer;
  let main: HTMLElement;
  let app: App | undefined;
  beforeEach(() => {
    [server, main, app] = [new FakeServer(), emptyPage(), undefined];
  });
  afterEach(() => {
    app?.unmount();
    server.stop();
  });

  const client = () => server.client({ refreshToken: 'localStorage' });
  const returning = async (): Promise<AuthClient> => {
    const earlier = client();
    await earlier.login(LOGIN);
    earlier.close();
    return client();
  };
  const open = (auth: AuthClient) => {
    app = createApp({ render: () => [h(Greeting), h(Greeting)] }).use(authPlugin(auth));
    app.mount(main);
  };
  const eventually = async (isTrue: () => boolean) => {
    for (let turns = 0; turns < 5000 && !isTrue(); turns++) await new Promise((resolve) => setTimeout(resolve, 1));
    expect([main.textContent, isTrue()]).toEqual([expect.anything(), true]);
  };
  const shows = async () => {
    await new Promise(setImmediate);
    return main.textContent;
  };

  it('shows that it is loading, then restores the session with one request, for all components', async () => {
    const auth = await returning();
    open(auth);
    expect(main.textContent).toBe('LoadingLoading');
    await auth.restore();
    expect(await shows()).toBe('Hello, adaHello, ada');
    expect(server.count('/auth/refresh')).toBe(1);
  });

  it('follows the session, and signs in once for a double click', async () => {
    const auth = client();
    open(auth);
    await auth.restore();
    expect(await shows()).toBe('Sign inSign in');
    for (const button of main.querySelectorAll('button')) button.click();
    await new Promise((resolve) => {
      auth.on('signedIn', resolve);
    });
    expect([await shows(), server.count('/auth/login')]).toEqual(['Hello, adaHello, ada', 1]);
    await auth.logout();
    expect(await shows()).toBe('Sign inSign in');
  });

  it('leaves no listener when the application is unmounted', async () => {
    const auth = client();
    const ended: string[] = [];
    const { on } = auth;
    auth.on = (event, listener) => {
      const end = on(event, listener);
      return () => {
        ended.push(event);
        end();
      };
    };
    open(auth);
    app!.unmount();
    app = undefined;
    expect(ended).toEqual(['signedIn', 'renewed', 'signedOut', 'notRestored']);
  });

  it('renders on a server without a request or a listener', async () => {
    const { renderToString } = require('vue/server-renderer') as typeof import('vue/server-renderer');
    const auth = await returning();
    const on = jest.spyOn(auth, 'on');
    const { window: page } = globalThis;
    Object.assign(globalThis, { window: undefined });
    expect(await renderToString(createSSRApp(Greeting).use(authPlugin(auth)))).toBe('<button>Loading</button>');
    Object.assign(globalThis, { window: page });
    expect([on.mock.calls, server.count('/auth/refresh')]).toEqual([[], 0]);
  });

  it('is used by the component of the recipe: loading, a wrong password, a sign-in, a sign-out', async () => {
    const auth = client();
    server.answer = ({ path }) => (path === '/auth/login' ? { status: 422, body: { message: 'Wrong.' } } : undefined);
    app = createApp(componentOfPage()).use(authPlugin(auth));
    app.mount(main);
    expect(main.textContent).toBe('Loading…');
    await auth.restore();
    expect(await shows()).toBe('Sign in');
    const [email, password] = main.querySelectorAll('input');
    [email!.value, password!.value] = [LOGIN.email, LOGIN.password];
    const send = () => main.querySelector('form')!.dispatchEvent(new window.Event('submit', { cancelable: true }));
    send();
    await eventually(() => main.textContent === 'Sign inWrong.');
    server.answer = () => undefined;
    send();
    send();
    await eventually(() => main.textContent === 'Sign out ada');
    expect(server.seen.filter(({ path }) => path === '/auth/login').map(({ body }) => body)).toEqual([LOGIN, LOGIN]);
    main.querySelector('button')!.click();
    await eventually(() => main.textContent === 'Sign in');
  });

  it('names the missing plugin', () => {
    const alone = createApp(Greeting);
    alone.config.warnHandler = () => undefined;
    expect(() => alone.mount(main)).toThrow('The application does not use authPlugin().');
  });
});
