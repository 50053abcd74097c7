import { setTimeout as sleep } from 'node:timers/promises';
import { RegistrationVerifier } from '../../libs/auth/src/passkeys/registration-verifier';
import { PasskeyFactor } from '../../libs/auth/src/second-step/passkey-factor';
import { SessionGrounds } from '../../libs/auth/src/sessions/session-grounds';
import { Sessions } from '../../libs/auth/src/sessions/sessions';
import { RecoveryCodes } from '../../libs/auth/src/two-factor/recovery-codes';
import { SpentCodes } from '../../libs/auth/src/two-factor/spent-codes';
import { proofOf } from '../support/confirming';
import { eventually } from '../support/eventually';
import { Checkpoint, whileStopped } from '../support/checkpoint';
import { member } from '../support/members';
import { ORIGIN } from '../support/passkeys';
import { SoftAuthenticator } from '../support/soft-authenticator';
import { asConfirmed, codeOf, secretIn } from '../support/two-factor';
import { CLEARED, UnprovedAccount } from '../support/unproved';

describe('a reset of the password of an account whose address nobody has proved', () => {
  const checkpoint = Checkpoint.passable();
  let account: UnprovedAccount;

  afterEach(async () => {
    jest.restoreAllMocks();
    await account.t.stop();
  });

  it('is not survived by a passkey whose registration is under way', async () => {
    account = await UnprovedAccount.start();
    const user = await account.app.confirmed();
    const credential = account.authenticator.create(await account.app.creationOptions(user));
    const verifier = account.own(RegistrationVerifier);
    const verify = verifier.verify.bind(verifier);
    jest.spyOn(verifier, 'verify').mockImplementation(async (...args) => checkpoint.pass().then(() => verify(...args)));
    const late = await whileStopped(checkpoint, account.app.register(user, credential), () => account.reset());
    expect(late.status).toBe(401);
    expect(await account.app.rows()).toEqual([]);
  });

  const moments: ['about to be stored' | 'stored already', () => void][] = [
    ['about to be stored', () => undefined],
    [
      'stored already',
      () => {
        const grounds = account.own(SessionGrounds);
        const hold = grounds.hold.bind(grounds);
        jest.spyOn(grounds, 'hold').mockImplementation(async (...args) => checkpoint.pass().then(() => hold(...args)));
      },
    ],
  ];
  it.each(moments)('is not survived by a session of a passkey that is %s', async (moment, hold) => {
    const tokenClaims = async (): Promise<object> => {
      if (moment === 'about to be stored') await checkpoint.pass();
      return {};
    };
    account = await UnprovedAccount.start({ hooks: { tokenClaims } });
    await account.dugIn();
    hold();
    const { ceremony_id, credential } = await account.app.answer(account.authenticator);
    const late = await whileStopped(checkpoint, account.app.login(ceremony_id, credential), () => account.reset());
    expect(late.status).toBe(401);
    expect(await account.living()).toEqual([]);
  });

  it('is not survived by a second factor whose enrolment is under way', async () => {
    account = await UnprovedAccount.start();
    const { access_token: token } = await account.t.session();
    const proof = await proofOf(account.t, token);
    const codes = account.own(RecoveryCodes);
    const generate = codes.generate.bind(codes);
    jest.spyOn(codes, 'generate').mockImplementation(async () => checkpoint.pass().then(() => generate()));
    const late = await whileStopped(checkpoint, asConfirmed(account.t, 'post', '/auth/two-factor', token, proof), () =>
      account.reset(),
    );
    expect(late.status).toBe(401);
    expect(await account.factor()).toEqual(CLEARED);
  });

  it('nor by one that is about to be enabled', async () => {
    account = await UnprovedAccount.start();
    const { access_token: token } = await account.t.session();
    const proof = await proofOf(account.t, token);
    const { body } = await asConfirmed(account.t, 'post', '/auth/two-factor', token, proof).expect(200);
    const spent = account.own(SpentCodes);
    const claim = spent.claim.bind(spent);
    jest.spyOn(spent, 'claim').mockImplementation(async (...args) => checkpoint.pass().then(() => claim(...args)));
    const confirm = asConfirmed(account.t, 'post', '/auth/two-factor/confirm', token, proof);
    const code = codeOf(account.t, secretIn(body.otpauth_uri));
    expect((await whileStopped(checkpoint, confirm.send({ code }), () => account.reset())).status).toBe(422);
    expect(await account.factor()).toEqual(CLEARED);
  });

  describe('at every moment of its transaction', () => {
    // The moments take their time.
    const PATIENT = { storeTimeoutMs: 5000 };
    /** Does something first, when a method is called next. */
    const before = (service: object, method: string, first: () => Promise<unknown>): void => {
      const original = (service as Record<string, (...args: unknown[]) => Promise<unknown>>)[method]!.bind(service);
      jest
        .spyOn(service as Record<string, () => unknown>, method)
        .mockImplementationOnce(async (...args: unknown[]) => first().then(() => original(...args)));
    };

    /** Sends a request, and waits until it is answered or waits for the transaction. */
    const sent = async <T>(request: PromiseLike<T>): Promise<{ answer: Promise<T> }> => {
      let isAnswered = false;
      const answer = Promise.resolve(request).finally(() => (isAnswered = true));
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await eventually(async () => isAnswered || (await account.t.database.query(waiting)).length > 0);
      return { answer };
    };

    it('is survived by no session of a passkey', async () => {
      account = await UnprovedAccount.start(PATIENT);
      await account.app.enrol(await account.app.confirmed(), account.authenticator);
      const ceremonies = [
        await account.app.answer(account.authenticator),
        await account.app.answer(account.authenticator),
      ];
      const logins: Promise<unknown>[] = [];
      const signIn = async (): Promise<void> => {
        const { ceremony_id, credential } = ceremonies.shift()!;
        logins.push((await sent(account.app.login(ceremony_id, credential))).answer);
      };
      before(account.own(PasskeyFactor), 'removeAll', signIn);
      before(account.own(Sessions), 'revokeAll', signIn);
      await account.reset();
      expect(await Promise.all(logins)).toHaveLength(2);
      expect(await account.living()).toEqual([]);
    });

    it('is survived by no passkey that is registered', async () => {
      account = await UnprovedAccount.start(PATIENT);
      const user = await account.app.confirmed();
      const credential = account.authenticator.create(await account.app.creationOptions(user));
      let late: Promise<{ status: number }> | undefined;
      before(account.own(Sessions), 'revokeAll', async () => {
        late = (await sent(account.app.register(user, credential))).answer;
      });
      await account.reset();
      expect((await late)?.status).toBe(401);
      expect(await account.app.rows()).toEqual([]);
    });
  });

  const ROUNDS = 30;
  it(`is survived by nothing that a stranger does at the same moment, in ${ROUNDS} rounds`, async () => {
    account = await UnprovedAccount.start();
    for (let round = 0; round < ROUNDS; round++) {
      const email = `racer${round}@example.com`;
      const id = await member(account.t, email);
      const user = await account.app.confirmed(email);
      const [old, next] = [new SoftAuthenticator(ORIGIN), new SoftAuthenticator(ORIGIN)];
      await account.app.enrol(user, old);
      const credential = next.create(await account.app.creationOptions(user));
      const answers = [await account.app.answer(old), await account.app.answer(old), await account.app.answer(old)];
      const token = await account.mailed(email);
      const late = [
        ...answers.map((one) => () => account.app.login(one.ceremony_id, one.credential)),
        () => account.app.register(user, credential),
        () => asConfirmed(account.t, 'post', '/auth/two-factor', user.access_token, user.proof),
      ].map(async (send) => sleep(Math.random() * 15).then(send));
      await account.post(token, email, `horse number ${round} at last`).expect(200);
      const statuses = (await Promise.all(late)).map(({ status }) => status);
      expect(statuses.filter((status) => ![200, 204, 401, 422].includes(status))).toEqual([]);
      expect(await account.app.rows()).toEqual([]);
      const left = `SELECT id FROM svc_sessions WHERE revoked_at IS NULL AND user_id = $1
                      UNION ALL SELECT id FROM members WHERE id = $1::uuid AND two_factor_secret IS NOT NULL`;
      expect(await account.t.database.query(left, [id])).toEqual([]);
      await account.t.login(email, `horse number ${round} at last`).expect(200);
    }
  }, 120_000);
});
