import { type AccountClient, createAccountClient } from './account.js';
import { FakeServer, ORDERS, URL_OF_GUARD } from './server.testkit.js';
import type { AuthClient } from './types.js';

const CODE = `svc-auth:${URL_OF_GUARD}:code`;
const DEVICE = `svc-auth:${URL_OF_GUARD}:device`;
const ENROLMENT = { enrolment_required: true, enrolment_token: 'e', expires_in: 600, methods: ['totp'] } as const;

/** A storage of a page. */
const storageOf = (values: Record<string, string> = {}) => ({
  values,
  getItem: (name: string) => values[name] ?? null,
  setItem: (name: string, value: string) => void (values[name] = value),
  removeItem: (name: string) => void delete values[name],
});

const page = globalThis as unknown as Record<string, unknown>;

describe('the account client', () => {
  let server: FakeServer;
  let auth: AuthClient;
  let account: AccountClient;
  const given: string[] = [];

  /** Gives the page a global of a browser until the end of the test. */
  const has = (name: string, value: unknown): void => {
    given.push(name);
    Object.defineProperty(page, name, { value, configurable: true });
  };
  const open = (refreshToken: 'memory' | 'localStorage' = 'memory'): void => {
    auth = server.client({ refreshToken });
    account = createAccountClient(auth);
  };

  beforeEach(() => {
    server = new FakeServer();
    open();
  });
  afterEach(() => {
    server.stop();
    for (const name of given.splice(0)) delete page[name];
  });

  const answers = (path: string, body: object, status = 200): void => {
    server.answer = (request) => (request.path === path ? { status, body } : undefined);
  };
  /** The answer of a sign-in of the server. */
  const tokensOf = async (): Promise<object> => {
    await server.client().login({ email: 'ada' });
    const { access_token, refresh_token } = {
      access_token: 'a.eyJzdWIiOiJhZGEiLCJmaWQiOiJmIn0.c',
      refresh_token: 'token.1',
    };
    return { access_token, refresh_token, expires_in: 900 };
  };

  describe('signs in with a mailed code', () => {
    it('with the token of the request, which it removes afterwards', async () => {
      const { values, ...storage } = storageOf();
      has('localStorage', storage);
      answers('/auth/login/code', { code_token: 'c', expires_in: 600 }, 202);
      expect(await account.requestCode('ada@example.com')).toEqual({ expires_in: 600 });
      expect(server.last.body).toEqual({ email: 'ada@example.com' });
      expect(values).toEqual({ [CODE]: 'c' });
      open();
      answers('/auth/login/code/verify', await tokensOf());
      expect(await account.signInWithCode('1234', { remember: false })).toBeNull();
      expect(server.last.body).toEqual({ code_token: 'c', code: '1234', remember: false });
      expect(auth.session!.claims.sub).toBe('ada');
      expect(values).toEqual({});
    });

    it('with its own token, although another tab has asked for a further code, whose token stays', async () => {
      const { values, ...storage } = storageOf();
      has('localStorage', storage);
      answers('/auth/login/code', { code_token: 'c', expires_in: 600 }, 202);
      await account.requestCode('ada@example.com');
      values[CODE] = 'of another tab';
      answers('/auth/login/code/verify', await tokensOf());
      await account.signInWithCode('1234');
      expect(server.last.body).toEqual({ code_token: 'c', code: '1234' });
      expect(values).toEqual({ [CODE]: 'of another tab' });
    });

    it('with no older token where the storage is full', async () => {
      const { values, ...storage } = storageOf({ [CODE]: 'old' });
      const setItem = (): void => {
        throw new Error('full');
      };
      has('localStorage', { ...storage, setItem });
      answers('/auth/login/code', { code_token: 'c', expires_in: 600 }, 202);
      await account.requestCode('ada@example.com');
      expect(values).toEqual({});
    });

    it('also where the browser refuses storage', async () => {
      answers('/auth/login/code', { code_token: 'c', expires_in: 600 }, 202);
      await account.requestCode('ada@example.com');
      answers('/auth/login/code/verify', { two_factor: true, challenge_token: 't', methods: ['totp'] });
      expect(await account.signInWithCode('1234')).toMatchObject({ challenge_token: 't' });
      expect(server.last.body).toEqual({ code_token: 'c', code: '1234' });
    });

    it('whose first attempt was wrong', async () => {
      const { values, ...storage } = storageOf({ [CODE]: 'c' });
      has('localStorage', storage);
      answers('/auth/login/code/verify', { message: 'Wrong.', errors: { code: ['Wrong.'] } }, 422);
      await expect(account.signInWithCode('1234')).rejects.toMatchObject({ status: 422, errors: { code: ['Wrong.'] } });
      expect(values).toEqual({ [CODE]: 'c' });
    });

    it.each([
      ['#code=1234', '1234', '/sign-in?a=1'],
      ['#other', null, undefined],
      ['', null, undefined],
    ])('reads the code of the address %s, and removes it', (hash, code, left) => {
      const replaced: unknown[] = [];
      has('location', { hash, pathname: '/sign-in', search: '?a=1' });
      has('history', { state: null, replaceState: (...args: unknown[]) => replaced.push(args[2]) });
      expect(account.codeInAddress()).toBe(code);
      expect(replaced).toEqual(left ? [left] : []);
    });
  });

  describe('completes a sign-in that needs a second factor', () => {
    it('with an authenticator app', async () => {
      answers('/auth/two-factor-enrolment', { otpauth_uri: 'otpauth://', recovery_codes: ['r'] });
      expect(await account.beginEnrolment(ENROLMENT as never)).toEqual({
        otpauth_uri: 'otpauth://',
        recovery_codes: ['r'],
      });
      expect(server.last.body).toEqual({ enrolment_token: 'e' });
      answers('/auth/two-factor-enrolment/confirm', await tokensOf());
      await account.completeEnrolment(ENROLMENT as never, '123456');
      expect(server.last.body).toEqual({ enrolment_token: 'e', code: '123456' });
      expect(auth.session!.claims.fid).toBe('f');
    });
  });

  it('lists devices with the token of this one, in body mode', async () => {
    const { values, ...storage } = storageOf();
    has('localStorage', storage);
    open('localStorage');
    answers('/auth/devices', { data: [] });
    expect(await account.devices()).toEqual([]);
    expect(server.last.headers.has('X-Svc-Device')).toBe(false);
    values[DEVICE] = JSON.stringify({ device_token: 'd' });
    expect(await account.devices()).toEqual([]);
    expect(server.last.headers.get('X-Svc-Device')).toBe('d');
    // A redirect would give the token to another origin.
    expect(server.last.redirect).toBe('error');
  });

  describe('without a question', () => {
    const CREATION = { challenge: 'Yw', user: { id: 'dQ', name: 'ada', displayName: 'ada' } };
    const browser = (conditionalCreate: boolean, create: (options: unknown) => Promise<unknown>) => {
      has('PublicKeyCredential', {
        getClientCapabilities: async () => ({ conditionalCreate }),
      });
      has('navigator', { credentials: { create } });
      account = createAccountClient(auth);
    };

    it('creates a passkey', async () => {
      await auth.login({ email: 'ada' });
      const asked: unknown[] = [];
      browser(true, async (options) => {
        asked.push(options);
        return { rawId: Buffer.from('credential'), response: {} };
      });
      answers('/auth/passkeys/conditional-options', CREATION);
      expect(await account.createPasskeyQuietly()).toBe(true);
      const publicKey = { challenge: new Uint8Array(Buffer.from('c')), user: { id: new Uint8Array(Buffer.from('u')) } };
      expect(asked).toMatchObject([{ publicKey, mediation: 'conditional' }]);
      expect(server.last).toMatchObject({
        path: '/auth/passkeys/conditional',
        body: { credential: { id: Buffer.from('credential').toString('base64url') } },
      });
    });

    it('asks for no confirmation where the server wants one', async () => {
      let asked = 0;
      const asking = server.client({ refreshToken: 'memory', confirm: async () => ++asked > 0 });
      await asking.login({ email: 'ada' });
      has('PublicKeyCredential', { getClientCapabilities: async () => ({ conditionalCreate: true }) });
      const refused = {
        status: 423,
        body: { message: 'Please confirm.' },
        headers: { 'WWW-Authenticate': 'Bearer error="insufficient_user_authentication", max_age=300' },
      };
      server.answer = ({ path }) => (path === '/auth/passkeys/conditional-options' ? refused : undefined);
      expect(await createAccountClient(asking).createPasskeyQuietly()).toBe(false);
      expect([asked, server.count('/auth/passkeys/conditional-options')]).toEqual([0, 1]);
    });

    it('ends a creation that waits when the user signs in', async () => {
      await auth.login({ email: 'ada' });
      let ask!: () => void;
      const asked = new Promise<void>((resolve) => (ask = resolve));
      browser(true, (options) => {
        ask();
        const { signal } = options as { signal: AbortSignal };
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      });
      answers('/auth/passkeys/conditional-options', CREATION);
      const created = account.createPasskeyQuietly();
      await asked;
      server.answer = () => undefined;
      await auth.login({ email: 'ada' });
      expect(await created).toBe(false);
    });

    it('sends no request if the browser cannot, and shows no error if it does not', async () => {
      await auth.login({ email: 'ada' });
      browser(false, () => Promise.reject(new Error('not called')));
      expect(await account.createPasskeyQuietly()).toBe(false);
      expect(server.count('/auth/passkeys/conditional-options')).toBe(0);
      browser(true, () => Promise.reject(new DOMException('No.', 'NotAllowedError')));
      expect(await account.createPasskeyQuietly()).toBe(false);
      expect(server.count('/auth/passkeys/conditional')).toBe(0);
    });
  });

  it('encodes ids in paths', async () => {
    await auth.login({ email: 'ada' });
    await account.renamePasskey('a/b', 'Laptop');
    expect(server.last).toMatchObject({ method: 'PATCH', body: { name: 'Laptop' } });
    expect(server.last.path).toBe('/auth/passkeys/a%2Fb');
  });

  it('lists, creates and revokes access keys', async () => {
    await auth.login({ email: 'ada' });
    const listed = [{ id: 'k', label: 'cron' }];
    answers('/auth/access-keys', { data: listed });
    expect(await account.accessKeys.list()).toEqual(listed);
    const wanted = { label: 'cron', abilities: ['orders.read'], expires_in_days: 30, networks: ['192.0.2.0/24'] };
    answers('/auth/access-keys', { ...listed[0], access_key: 'svc_k' });
    expect(await account.accessKeys.create(wanted)).toMatchObject({ access_key: 'svc_k' });
    expect(server.last).toMatchObject({ method: 'POST', path: '/auth/access-keys', body: wanted });
    await account.accessKeys.revoke('a/b');
    expect(server.last).toMatchObject({ method: 'DELETE', path: '/auth/access-keys/a%2Fb' });
  });

  it('ends the access keys with the password, if it is asked to', async () => {
    await auth.login({ email: 'ada' });
    await auth.changePassword({ current_password: 'a', password: 'b', end_access_keys: true });
    expect(server.last.body).toMatchObject({ password: 'b', end_access_keys: true });
  });

  it('renews the session after a link that may have ended it', async () => {
    await auth.login({ email: 'ada' });
    answers('/auth/email/change/undo', { status: 'email-change-undone' });
    server.revoke();
    await account.undoEmailChange('t');
    expect(auth.session).toBeNull();
  });

  it('keeps the tokens of the device in body mode, and sends them with the next login', async () => {
    const { values, ...storage } = storageOf();
    has('localStorage', storage);
    open('localStorage');
    const device = { device_token: 'd', trusted_device_token: 't' };
    answers('/auth/two-factor-challenge', { ...(await tokensOf()), ...device });
    await auth.answerChallenge(
      { two_factor: true, challenge_token: 'c', methods: ['totp'] },
      { code: '1', trust_device: true },
    );
    expect(server.last.body).toEqual({ challenge_token: 'c', code: '1', trust_device: true });
    expect(JSON.parse(values[DEVICE]!)).toEqual(device);
    await auth.login({ email: 'ada' });
    expect(server.last.body).toEqual({ email: 'ada', trusted_device_token: 't' });
    expect(server.last.headers.get('X-Svc-Device')).toBe('d');
    expect(JSON.parse(values[DEVICE]!)).toEqual(device);
  });

  it('sends no header of a device and stores nothing where the refresh token is in memory', async () => {
    const { values, ...storage } = storageOf();
    has('localStorage', storage);
    answers('/auth/login', { ...(await tokensOf()), device_token: 'd' });
    await auth.login({ email: 'ada' });
    await auth.login({ email: 'ada' });
    expect(server.last.headers.has('X-Svc-Device')).toBe(false);
    expect(values).toEqual({});
  });

  it.each(['recent_login_required', 'factor_required'])(
    'leaves a session alone whose request needs another sign-in: %s',
    async (reason) => {
      await auth.login({ email: 'ada' });
      server.answer = ({ path }) =>
        path === '/orders'
          ? {
              status: 401,
              body: { message: 'Sign in again.', reason },
              headers: { 'WWW-Authenticate': 'Bearer error="insufficient_user_authentication", max_age=60' },
            }
          : undefined;
      await expect(auth.request('GET', ORDERS)).rejects.toMatchObject({ status: 401, reason });
      expect(server.count('/auth/refresh')).toBe(0);
      expect(server.count('/orders')).toBe(1);
      expect(auth.session).not.toBeNull();
    },
  );
});
