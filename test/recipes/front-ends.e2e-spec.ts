import '@angular/compiler';
import { HttpClient } from '@angular/common/http';
import {
  ApplicationInitStatus,
  DOCUMENT,
  type EnvironmentInjector,
  Injector,
  createEnvironmentInjector,
  provideZonelessChangeDetection,
  ɵINJECTOR_SCOPE as INJECTOR_SCOPE,
} from '@angular/core';
import { firstValueFrom } from 'rxjs';
import { SecureStore } from '../../libs/auth-client/src/native.testkit';
import { modulesOf } from '../docs/page-modules';
import { TestApp } from '../support/hosts/app';
import { ADA, PASSWORD } from '../support/hosts/user-entities';

const LOGIN = { email: ADA, password: PASSWORD };

/** What the pages use of the client. */
interface Client {
  readonly session: { token: string; claims: { sub: string } } | null;
  login(fields: object): Promise<object | null>;
  logout(): Promise<void>;
  accessToken(): Promise<string | null>;
  renew(): Promise<object | null>;
  request(method: string, url: string): Promise<unknown>;
  close(): void;
}

describe('the client in front ends', () => {
  const t = TestApp.forFile({ options: { features: { knownDevices: true }, knownDevices: { mail: false } } });
  const clients: Client[] = [];
  let url: string;
  let requests: { url: string; headers: Headers }[];

  beforeEach(async () => {
    await t.person(ADA);
    url = await t.app.getUrl();
    requests = [];
    const send = globalThis.fetch;
    jest.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
      const request = new Request(input, init);
      requests.push({ url: request.url.slice(url.length), headers: request.headers });
      return send(request);
    });
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
  });
  const sent = (path: string) => requests.filter((request) => request.url === path);

  describe('of React Native, as in the recipe', () => {
    const store = new SecureStore();
    beforeEach(() => store.items.clear());

    /** A start of the application. */
    const launch = (): { auth: Client; start: () => Promise<string | null> } => {
      process.env.EXPO_PUBLIC_API_URL = url;
      const modules = modulesOf('docs/recipes/mobile.md', { 'expo-secure-store': store });
      const { auth } = modules['src/auth.ts'];
      clients.push(auth);
      return { auth, start: modules['src/start.ts'].start };
    };

    it('keep the session and the token of the device in SecureStore, and send no cookie', async () => {
      const first = launch();
      expect(await first.start()).toBeNull();
      expect(await first.auth.login(LOGIN)).toBeNull();
      const name = `svc-auth_${url.replaceAll(/[^\w.-]/g, '_')}_auth`;
      expect([...store.items.keys()].toSorted()).toEqual([name, `${name}_device`]);
      first.auth.close();
      const second = launch();
      expect(await second.start()).toBe(first.auth.session!.claims.sub);
      expect(await second.auth.request('GET', `${url}/auth/sessions`)).toMatchObject({ data: [{ current: true }] });
      await second.auth.logout();
      expect([...store.items.keys()]).toEqual([`${name}_device`]);
      const { device_token } = JSON.parse(store.items.get(`${name}_device`)!);
      await second.auth.login(LOGIN);
      const [, again] = sent('/auth/login');
      expect([again!.headers.get('X-Svc-Device'), again!.headers.get('Cookie')]).toEqual([device_token, null]);
      expect(sent('/auth/login')[0]!.headers.has('X-Svc-Device')).toBe(false);
    });
  });

  describe('of Angular, as in the recipe', () => {
    let app: EnvironmentInjector;
    let auth: Client;
    let session: () => object | null;

    /** An application without a page, whose client keeps the refresh token in memory. */
    beforeEach(async () => {
      const modules = modulesOf('docs/recipes/angular.md');
      const { API, AUTH } = modules['src/auth.interceptor.ts'];
      const { createAuthClient } = require('@svc/auth-client');
      auth = createAuthClient({ url: `${url}/auth`, refreshToken: 'memory' });
      clients.push(auth);
      const around = [
        { provide: INJECTOR_SCOPE, useValue: 'root' },
        { provide: DOCUMENT, useValue: {} },
        { provide: API, useValue: `${url}/` },
        { provide: AUTH, useValue: auth },
        provideZonelessChangeDetection(),
      ];
      const { providers } = modules['src/app.config.ts'].appConfig;
      app = createEnvironmentInjector([...around, ...providers], Injector.NULL as EnvironmentInjector);
      session = app.get(modules['src/session.ts'].SESSION) as typeof session;
      const status = app.get(ApplicationInitStatus) as unknown as {
        runInitializers(): void;
        donePromise: Promise<void>;
      };
      status.runInitializers();
      await status.donePromise;
    });
    afterEach(() => app.destroy());

    const get = (path: string) => firstValueFrom(app.get(HttpClient).get(url + path));
    const tokens = (path: string) => sent(path).map(({ headers }) => headers.get('Authorization'));

    it('send the token, and show the session', async () => {
      await expect(get('/auth/sessions')).rejects.toMatchObject({ status: 401 });
      expect([tokens('/auth/sessions'), session()]).toEqual([[null], null]);
      await auth.login(LOGIN);
      expect(await get('/auth/sessions')).toMatchObject({ data: [{ current: true }] });
      expect(session()).toBe(auth.session);
      await auth.logout();
      expect(session()).toBeNull();
    });

    it('renew a refused token once for all requests, and send each of them again', async () => {
      await auth.login(LOGIN);
      const { token } = auth.session!;
      // The clock of the page stands still.
      t.clock.advance(3600);
      const answers = await Promise.all([get('/auth/sessions'), get('/auth/sessions'), get('/auth/sessions')]);
      expect(answers.length).toBe(3);
      expect(sent('/auth/refresh').length).toBe(1);
      expect(auth.session!.token).not.toBe(token);
      const [old, renewed] = [`Bearer ${token}`, `Bearer ${auth.session!.token}`];
      expect(tokens('/auth/sessions')).toEqual([old, old, old, renewed, renewed, renewed]);
    });

    it('send no request of one user with the token of another, who has signed in while it waited', async () => {
      await auth.login(LOGIN);
      await t.person('grace@example.com');
      const { accessToken } = auth;
      auth.accessToken = async () => {
        await auth.login({ ...LOGIN, email: 'grace@example.com' });
        return accessToken();
      };
      await expect(get('/auth/sessions')).rejects.toThrow('The session has ended.');
      expect(sent('/auth/sessions')).toEqual([]);
    });

    it('do not repeat other refusals, and send no token elsewhere', async () => {
      await auth.login(LOGIN);
      await expect(get('/nothing')).rejects.toMatchObject({ status: 404 });
      expect([sent('/nothing').length, sent('/auth/refresh').length]).toEqual([1, 0]);
      const elsewhere = url.replace('127.0.0.1', 'localhost').replace('[::1]', 'localhost');
      await firstValueFrom(app.get(HttpClient).get(`${elsewhere}/auth/sessions`)).catch(() => undefined);
      expect(requests.at(-1)!.headers.has('Authorization')).toBe(false);
    });
  });
});
