import { type AccountClient, createAccountClient } from './account.js';
import { FakeServer, pass, useClock } from './server.testkit.js';
import { define } from './tabs.testkit.js';
import type { AuthClient } from './types.js';

const bytes = (text: string) => new Uint8Array(Buffer.from(text)).buffer;
const base64url = (text: string) => Buffer.from(text).toString('base64url');
const throws = () => {
  throw new TypeError('Illegal invocation');
};

/** As a browser and its password manager answer it: WebAuthn Level 2, or functions that throw. */
const KINDS: [string, object][] = [
  ['lacks', {}],
  ['throws at', { toJSON: throws, getClientExtensionResults: throws }],
];
const ASSERTION = {
  id: 'another',
  rawId: bytes('Zoë?>'),
  type: 'public-key',
  response: {
    clientDataJSON: bytes('{}'),
    authenticatorData: bytes('data'),
    signature: bytes('~~~'),
    userHandle: bytes('7'),
  },
};
const ATTESTATION = {
  ...ASSERTION,
  response: { clientDataJSON: bytes('{}'), attestationObject: bytes('made'), getTransports: () => ['internal'] },
};
const ID = base64url('Zoë?>');
const REQUEST = {
  ceremony_id: 'c',
  options: { challenge: base64url('challenge?>'), rpId: 'api.test', timeout: 1000, allowCredentials: [{ id: ID }] },
};
const CREATION = {
  rp: { id: 'api.test', name: 'Shop' },
  challenge: base64url('challenge?>'),
  user: { id: base64url('7'), name: 'ada', displayName: 'ada' },
  excludeCredentials: [{ id: ID, type: 'public-key', transports: ['usb'] }],
};
const UNKNOWN = { status: 422, body: { message: 'Unknown.', reason: 'unknown_passkey' } };
const OTHER_REFUSAL = { status: 422, body: { message: 'The passkey could not be verified.' } };

describe('a passkey', () => {
  let server: FakeServer;
  let auth: AuthClient;
  let account: AccountClient;
  let asked: Record<string, Record<string, unknown>>[];
  let signals: unknown[];

  /** The browser, whose functions for JSON are as `more`. */
  const browser = (more: object = {}) => {
    const answer = (given: object) => async (options: never) => {
      asked.push(options);
      await new Promise(setImmediate);
      return { ...given, ...more };
    };
    const signal = (name: string) => ({
      [name]: async (data: object) => void signals.push(name.slice('signal'.length), data),
    });
    define('navigator', { credentials: { get: answer(ASSERTION), create: answer(ATTESTATION) } });
    define('PublicKeyCredential', {
      ...signal('signalUnknownCredential'),
      ...signal('signalCurrentUserDetails'),
      ...signal('signalAllAcceptedCredentials'),
      ...('toJSON' in more && { parseRequestOptionsFromJSON: throws, parseCreationOptionsFromJSON: throws }),
    });
    account = createAccountClient(auth);
  };

  beforeEach(() => {
    [server, asked, signals] = [new FakeServer(), [], []];
    auth = server.client();
    server.answer = ({ path }) => ANSWERS[path];
    browser();
  });
  afterEach(() => {
    server.stop();
    for (const name of ['navigator', 'PublicKeyCredential']) define(name, undefined);
  });

  let listed: object;
  const ANSWERS: Record<string, { status?: number; body?: unknown } | undefined> = {
    '/auth/passkeys/login-options': { body: REQUEST },
    '/auth/passkeys/login': {
      body: { access_token: 'a.eyJzdWIiOiJhZGEiLCJmaWQiOiJmIn0.c', refresh_token: 'r', expires_in: 9 },
    },
    '/auth/passkeys/registration-options': { body: CREATION },
    '/auth/register/passkey/options': { body: { ceremony_id: 'c', options: CREATION } },
  };
  const refuses = (path: string, answer: { status: number; body: object }) =>
    (server.answer = (request) => (request.path === path ? answer : ANSWERS[request.path]));

  describe.each(KINDS)('of a browser that %s the functions for JSON', (_, more) => {
    beforeEach(() => browser(more));

    it('signs in', async () => {
      expect(auth.supportsPasskeys).toBe(true);
      await auth.loginWithPasskey();
      const { challenge, allowCredentials, timeout } = asked[0]!.publicKey!;
      expect(Buffer.from(challenge as Uint8Array).toString()).toBe('challenge?>');
      expect([timeout, allowCredentials]).toEqual([1000, [{ id: new Uint8Array(bytes('Zoë?>')) }]]);
      expect(server.last.body).toEqual({
        ceremony_id: 'c',
        credential: {
          id: ID,
          rawId: ID,
          type: 'public-key',
          clientExtensionResults: {},
          response: {
            clientDataJSON: base64url('{}'),
            authenticatorData: base64url('data'),
            signature: base64url('~~~'),
            userHandle: base64url('7'),
          },
        },
      });
    });

    it('is created', async () => {
      await auth.login({ email: 'ada' });
      await account.addPasskey('Laptop');
      const { challenge, user, excludeCredentials, rp } = asked[0]!.publicKey!;
      expect(Buffer.from(challenge as Uint8Array).toString()).toBe('challenge?>');
      expect([rp, user]).toEqual([CREATION.rp, { ...CREATION.user, id: new Uint8Array(bytes('7')) }]);
      expect(excludeCredentials).toEqual([{ ...CREATION.excludeCredentials[0], id: new Uint8Array(bytes('Zoë?>')) }]);
      expect(server.last.body).toMatchObject({
        name: 'Laptop',
        credential: {
          id: ID,
          response: { attestationObject: base64url('made'), clientDataJSON: base64url('{}'), transports: ['internal'] },
        },
      });
    });
  });

  it('without a user handle is sent without one', async () => {
    browser({ response: { ...ASSERTION.response, userHandle: null } });
    await auth.loginWithPasskey();
    expect(server.last.body!.credential).not.toHaveProperty('response.userHandle');
  });

  it('that no account has is no longer offered by the browser', async () => {
    refuses('/auth/passkeys/login', UNKNOWN);
    await expect(auth.loginWithPasskey()).rejects.toMatchObject({ status: 422, reason: 'unknown_passkey' });
    expect(signals).toEqual(['UnknownCredential', { rpId: 'api.test', credentialId: ID }]);
  });

  it('that no account has is no longer offered after a second step and a confirmation either', async () => {
    await auth.login({ email: 'ada' });
    for (const [path, work] of [
      ['/auth/confirm-passkey', () => auth.confirmPasskey()],
      [
        '/auth/two-factor-challenge',
        () => auth.answerChallengeWithPasskey({ two_factor: true, challenge_token: 't', methods: ['passkey'] }),
      ],
    ] as const) {
      refuses(path, UNKNOWN);
      await expect(work()).rejects.toMatchObject({ reason: 'unknown_passkey' });
    }
    expect(signals).toHaveLength(4);
  });

  it('that is refused for another reason stays', async () => {
    refuses('/auth/passkeys/login', OTHER_REFUSAL);
    await expect(auth.loginWithPasskey()).rejects.toMatchObject({ status: 422 });
    expect(signals).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['lacks', undefined],
    ['throws at', throws],
    ['never answers', () => new Promise(() => undefined)],
    ['rejects', () => Promise.reject(new Error('No.'))],
  ])('is refused with the error of the server in a browser that %s the signal', async (_, signal) => {
    Object.assign(PublicKeyCredential, { signalUnknownCredential: signal, signalCurrentUserDetails: signal });
    Object.assign(PublicKeyCredential, { signalAllAcceptedCredentials: signal });
    refuses('/auth/passkeys/login', UNKNOWN);
    await expect(auth.loginWithPasskey()).rejects.toMatchObject({ status: 422 });
    refuses('/auth/register/passkey', OTHER_REFUSAL);
    await expect(account.registerWithPasskey({ email: 'ada' })).rejects.toMatchObject({ status: 422 });
    await auth.login({ email: 'ada' });
    refuses('/auth/passkeys', { status: 200, body: listed });
    expect(await account.passkeys()).toEqual(listed);
  });

  describe('of a user', () => {
    listed = {
      passkeys: [],
      rp_id: 'api.test',
      user_handle: 'Nw',
      user_name: 'ada@new.test',
      all_accepted_credential_ids: [ID],
    };
    const details = { rpId: 'api.test', userId: 'Nw', name: 'ada@new.test', displayName: 'ada@new.test' };
    const accepted = { rpId: 'api.test', userId: 'Nw', allAcceptedCredentialIds: [ID] };

    beforeEach(() => auth.login({ email: 'ada' }));

    it.each<[string, (account: AccountClient) => Promise<void>]>([
      ['address', (one) => one.confirmEmailChange('t')],
      ['former address', (one) => one.undoEmailChange('t')],
      ['name', (one) => one.changeUsername({ username: 'ada' })],
    ])('has the new %s in the browser after a change', async (_, change) => {
      server.answer = ({ path }) =>
        path === '/auth/passkeys' ? { body: listed } : path === '/auth/refresh' ? undefined : { status: 204 };
      await change(account);
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
      expect(signals).toEqual(['AllAcceptedCredentials', accepted, 'CurrentUserDetails', details]);
    });

    it('costs no request after a change in a browser without such a function', async () => {
      server.answer = ({ path }) => (path === '/auth/passkeys' ? { body: listed } : { status: 204 });
      await account.passkeys();
      expect(signals).toEqual(['AllAcceptedCredentials', accepted, 'CurrentUserDetails', details]);
      Object.assign(PublicKeyCredential, { signalCurrentUserDetails: undefined });
      await account.changeUsername({ username: 'ada' });
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
      expect(server.count('/auth/passkeys')).toBe(1);
    });
  });
});

describe('a double click', () => {
  let server: FakeServer;
  let auth: AuthClient;

  beforeEach(() => {
    server = new FakeServer();
    auth = server.client();
  });
  afterEach(() => server.stop());

  const CHALLENGE = { two_factor: true, challenge_token: 'c', methods: ['totp'] } as const;
  const ENROLMENT = { enrolment_required: true, enrolment_token: 'e', expires_in: 600, methods: ['totp'] } as const;

  it.each<[string, string, (account: AccountClient, client: AuthClient) => Promise<unknown>]>([
    ['a login', '/auth/login', (_, client) => client.login({ email: 'ada' })],
    ['a registration', '/auth/register', (_, client) => client.register({ email: 'ada', password: 'p' })],
    [
      'an answer',
      '/auth/two-factor-challenge',
      (_, client) => client.answerChallenge(CHALLENGE as never, { code: '1' }),
    ],
    ['a request for a link', '/auth/forgot-password', (_, client) => client.forgotPassword('ada@example.com')],
    [
      'a reset',
      '/auth/reset-password',
      (_, client) => client.resetPassword({ token: 't', email: 'ada@example.com', password: 'p' }),
    ],
    ['a change', '/auth/password', (_, client) => client.changePassword({ password: 'p' })],
    ['an enrolment', '/auth/two-factor', (account) => account.enrolTwoFactor()],
    ['the end of an enrolment', '/auth/two-factor/confirm', (account) => account.confirmTwoFactor('1')],
    ['an enrolment at a login', '/auth/two-factor-enrolment', (account) => account.beginEnrolment(ENROLMENT as never)],
    ['a new address', '/auth/email/change', (account) => account.changeEmail('ada@new.test')],
    ['a logout', '/auth/logout', (_, client) => client.logout()],
  ])('on %s is one request, and both clicks have its answer', async (_, path, action) => {
    await auth.login({ email: 'ada' });
    const account = createAccountClient(auth);
    server.seen.length = 0;
    let answers = 0;
    server.answer = async (request) => {
      if (request.path !== path) return undefined;
      await new Promise(setImmediate);
      return ++answers > 1 ? { status: 422, body: { message: 'It is used.' } } : { body: { answers } };
    };
    const [first, second] = await Promise.all([action(account, auth), action(account, auth)]);
    expect(second).toEqual(first);
    expect(server.count(path)).toBe(1);
    // A later click is another action.
    await auth.login({ email: 'ada' }).catch(() => undefined);
    await action(account, auth).catch(() => undefined);
    expect(server.count(path)).toBeGreaterThan(1);
  });

  it('is not a second request of the page, nor another sign-in in between', async () => {
    await Promise.all([auth.login({ email: 'ada' }), auth.login({ email: 'grace' }), auth.login({ email: 'ada' })]);
    expect(auth.session!.claims).toMatchObject({ sub: 'ada', fid: 'session-3' });
    await Promise.all([1, 2].map(() => auth.request('POST', 'https://api.test/orders', { item: 1 })));
    expect(server.count('/orders')).toBe(2);
    await Promise.all([1, 2].map(() => auth.sessions().catch(() => undefined)));
    expect(server.count('/auth/sessions')).toBe(2);
  });

  it.each(['loginWithPasskey', 'confirmPasskey'] as const)('on %s opens one dialog', async (method) => {
    await auth.login({ email: 'ada' });
    let dialogs = 0;
    const get = async () => (dialogs++, await new Promise(setImmediate), ASSERTION);
    define('navigator', { credentials: { get } });
    server.answer = ({ path }) =>
      path === '/auth/passkeys/login-options'
        ? { body: REQUEST }
        : path === '/auth/confirm-passkey'
          ? { body: { confirmation_token: 'c' } }
          : { body: {} };
    await Promise.all([auth[method](), auth[method]()]);
    expect(dialogs).toBe(1);
    define('navigator', undefined);
  });

  it('is not a click after a dialog of the browser that never answers', async () => {
    useClock();
    let dialogs = 0;
    const get = () => (dialogs++ ? Promise.resolve(ASSERTION) : new Promise(() => undefined));
    define('navigator', { credentials: { get } });
    server.answer = ({ path }) => (path === '/auth/passkeys/login-options' ? { body: REQUEST } : undefined);
    void auth.loginWithPasskey();
    await pass(16_000);
    await expect(auth.loginWithPasskey()).rejects.toMatchObject({ status: 401 });
    expect(dialogs).toBe(2);
    jest.useRealTimers();
    define('navigator', undefined);
  });

  it('on a new passkey creates one', async () => {
    await auth.login({ email: 'ada' });
    let dialogs = 0;
    const create = async () => (dialogs++, await new Promise(setImmediate), ATTESTATION);
    define('navigator', { credentials: { create } });
    server.answer = ({ path }) =>
      path === '/auth/passkeys/registration-options' ? { body: CREATION } : { status: 204 };
    const account = createAccountClient(auth);
    await Promise.all([account.addPasskey('Laptop'), account.addPasskey('Laptop')]);
    expect([dialogs, server.count('/auth/passkeys')]).toEqual([1, 1]);
    define('navigator', undefined);
  });
});
