import { AccountDeleted, AccountDeleting, type AuthModuleOptions, PasswordVerifier, Presenter } from '@svc/auth';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { eventually } from '../support/runtime/eventually';
import { HostTimeouts } from '../support/faults/host-timeouts';
import { member, membersForFile } from '../support/hosts/members';
import { PASSKEYS } from '../support/flows/passkeys';
import { PausePoint } from '../support/faults/pause-point';
import { ADA, CONFIRMATION_HEADER, confirmationTokenOf } from '../support/flows/step-up';
import { PASSWORD } from '../support/hosts/user-entities';

/** The code of the host that does not settle; null for none. */
let hanging: string | null = null;
let pausePoint = new PausePoint();

/** Code of the host. While it is the hanging one, it waits for the test, and then fails. */
async function hostCode<T>(name: string, result: T): Promise<T> {
  if (hanging !== name) return result;
  await pausePoint.pass();
  throw new Error('an error after the answer');
}

class HostVerifier extends PasswordVerifier {
  readonly decoy = 'host$0';

  override recognises(digest: string): boolean {
    return digest.startsWith('host$');
  }

  override verify(): Promise<boolean> {
    return hostCode('a password verifier', false);
  }
}

class HostPresenter extends Presenter {
  override login(fields: object): Promise<object> {
    return hostCode('the presenter', { ...fields, presented: true });
  }
}

const OPTIONS: Partial<AuthModuleOptions> = {
  features: { ...PASSKEYS.features, lockout: true, abilities: true },
  // With one place, each further password waits for the one that hangs.
  hashing: { memoryCost: 64, timeCost: 1, concurrency: 1, verifiers: [new HostVerifier()] },
  passkeys: { ...PASSKEYS.passkeys, required: () => hostCode('passkeys.required', false) },
  presenter: HostPresenter,
  // A login without a result that counted as a failure would use up the only attempt.
  rateLimits: { login: { maxAttempts: 1 } },
  hooks: {
    tokenClaims: () => hostCode('hooks.tokenClaims', {}),
    abilities: () => hostCode('hooks.abilities', ['orders.read']),
    canSignIn: () => hostCode('hooks.canSignIn', true),
    register: () => hostCode('hooks.register', null),
    registerRules: () => ({
      name: { check: () => hostCode('a check of hooks.registerRules', true) },
      email: { email: true },
      password: {},
    }),
    deleteUser: async (user, { manager }) => {
      await hostCode('hooks.deleteUser', undefined);
      await manager.remove(user);
    },
  },
};

describe('code of the host that never settles', () => {
  const { t } = membersForFile(OPTIONS);
  const unhandled = jest.fn();

  beforeEach(async () => {
    [hanging, pausePoint] = [null, new PausePoint()];
    await member(t, ADA);
    unhandled.mockReset();
    process.on('unhandledRejection', unhandled);
  });
  afterEach(() => process.off('unhandledRejection', unhandled));

  /** Sends a request that calls the code, and ends the time limit of the code. @returns the response */
  async function timedOut<R>(name: string, request: PromiseLike<R>): Promise<R> {
    const timeouts = new HostTimeouts();
    hanging = name;
    // A request is sent when it is awaited.
    const response = Promise.resolve(request);
    await pausePoint.reached;
    hanging = null;
    timeouts.expire();
    const answer = await response;
    pausePoint.resume();
    await nextTurn();
    expect(unhandled).not.toHaveBeenCalled();
    return answer;
  }

  const EVE = { name: 'Eve', email: 'eve@example.com', password: PASSWORD, password_confirmation: PASSWORD };

  it.each(['a password verifier', 'hooks.tokenClaims', 'hooks.abilities', 'hooks.canSignIn', 'passkeys.required'])(
    'is answered 503 after a time limit, at a login: %s',
    async (name) => {
      const { status, headers } = await timedOut(name, t.login(ADA));
      expect([status, headers['retry-after']]).toEqual([503, '1']);
      expect(await t.database.query('SELECT 1 FROM svc_sessions WHERE revoked_at IS NULL')).toEqual([]);
      await t.login(ADA).expect(200);
    },
  );

  it.each(['hooks.tokenClaims', 'hooks.abilities', 'hooks.canSignIn'])(
    'is answered 503 after a time limit, at a refresh, whose token stays valid: %s',
    async (name) => {
      const { refresh_token: token } = await t.session();
      expect((await timedOut(name, t.refresh(token))).status).toBe(503);
      const { body } = await t.refresh(token).expect(200);
      expect(body.refresh_token).not.toBe(token);
    },
  );

  it.each(['hooks.register', 'a check of hooks.registerRules'])(
    'is answered 503 after a time limit, at a registration: %s',
    async (name) => {
      expect((await timedOut(name, t.http.post('/auth/register').send(EVE))).status).toBe(503);
      await t.http.post('/auth/register').send(EVE).expect(422);
    },
  );

  it('gives back its place in the queue of passwords', async () => {
    const timeouts = new HostTimeouts();
    hanging = 'a password verifier';
    const first = t.login(ADA).then(({ status }) => status);
    await pausePoint.reached;
    hanging = null;
    // The second login waits for the only place.
    const second = t.login('eve@example.com').then(({ status }) => status);
    timeouts.expire();
    expect([await first, await second]).toEqual([503, 422]);
  });

  it('costs no client its tokens: the answer of a presenter that never settles is not presented', async () => {
    const { status, body } = (await timedOut('the presenter', t.login(ADA))) as { status: number; body: object };
    expect([status, body]).toEqual([200, expect.not.objectContaining({ presented: true })]);
    expect(body).toMatchObject({ access_token: expect.any(String), refresh_token: expect.any(String) });
    expect((await t.login(ADA).expect(200)).body).toMatchObject({ presented: true });
  });

  it('keeps the account when it is a listener of AccountDeleting', async () => {
    const deleted = t.recorded(AccountDeleted);
    t.on(AccountDeleting, () => hostCode('a listener', undefined));
    const { access_token: token } = await t.session();
    const proof = await confirmationTokenOf(t, token);
    const erase = t.call('delete', '/auth/account', token).set(CONFIRMATION_HEADER, proof);
    expect((await timedOut('a listener', erase)).status).toBe(503);
    expect(deleted).toEqual([]);
    expect(await t.database.query('SELECT email FROM members')).toEqual([{ email: ADA }]);
  });

  const erasure = async (email: string) => {
    const { access_token: token } = await t.session(email);
    const proof = await confirmationTokenOf(t, token);
    return () => t.call('delete', '/auth/account', token).set(CONFIRMATION_HEADER, proof);
  };

  it('gives back its place of a deletion when it is hooks.deleteUser, and keeps the account', async () => {
    const emails = [ADA, 'bob@example.com', 'cyd@example.com'];
    for (const email of emails.slice(1)) await member(t, email);
    const [ada, bob, cyd] = await Promise.all(emails.map(erasure));
    const timeouts = new HostTimeouts();
    hanging = 'hooks.deleteUser';
    const first = [ada!, bob!].map(async (erase) => (await erase()).status);
    await eventually(async () => pausePoint.arrivals === 2);
    hanging = null;
    timeouts.expire();
    expect(await Promise.all(first)).toEqual([503, 503]);
    await cyd!().expect(204);
    pausePoint.resume();
    for (const email of [ADA, 'bob@example.com']) await (await erasure(email))().expect(204);
  });

  it('delays no other deletion when it is a listener of AccountDeleting', async () => {
    t.on(AccountDeleting, () => hostCode('a listener', undefined));
    const emails = ['bob@example.com', 'cyd@example.com', 'dan@example.com'];
    for (const email of emails) await member(t, email);
    const [ada, bob, cyd, dan] = await Promise.all([ADA, ...emails].map(erasure));
    const timeouts = new HostTimeouts();
    hanging = 'a listener';
    const first = [ada!, bob!].map(async (erase) => (await erase()).status);
    await eventually(async () => pausePoint.arrivals === 2);
    hanging = null;
    for (const erase of [cyd!, dan!]) await erase().expect(204);
    timeouts.expire();
    expect(await Promise.all(first)).toEqual([503, 503]);
    pausePoint.resume();
  });
});

describe('hooks.authenticate that never settles', () => {
  const { t } = membersForFile({ hooks: { authenticate: () => hostCode('hooks.authenticate', null) } });

  it('is answered 503 after a time limit, and is no failed attempt', async () => {
    [hanging, pausePoint] = ['hooks.authenticate', new PausePoint()];
    const timeouts = new HostTimeouts();
    const answer = Promise.resolve(t.login(ADA));
    await pausePoint.reached;
    hanging = null;
    timeouts.expire();
    expect((await answer).status).toBe(503);
    pausePoint.resume();
    await t.login(ADA).expect(422);
  });
});
