import { StoreUnavailable } from '../../foundation/platform/errors';
import { ResetTokenStore } from './reset-token.store';
import { RegistrationVerifier } from '../passkeys/webauthn/verify-registration';
import { PasskeyManagement } from '../passkeys/passkey-enrolment';
import { Sessions } from '../sessions/sessions';
import { SessionPrecondition } from '../sessions/sign-in';
import { RecoveryCodes } from '../two-factor/recovery-codes';
import { UsedCodes } from '../two-factor/totp';
import { confirmationTokenOf } from '../../../../../test/support/flows/step-up';
import { eventually } from '../../../../../test/support/runtime/eventually';
import { PausePoint, whilePaused } from '../../../../../test/support/faults/pause-point';
import { asConfirmed, codeOf, secretIn } from '../../../../../test/support/flows/two-factor';
import { SECOND_FACTOR_REMOVED, UnverifiedAccount } from '../../../../../test/support/hosts/unverified-account';

describe('the password reset of an account with an unverified email', () => {
  const checkpoint = PausePoint.disabled();
  /** Runs in the host's hook before a token is signed. */
  let signing: () => Promise<void>;
  const tokenClaims = async (): Promise<object> => signing().then(() => ({}));
  // Long enough for a transaction that waits for another one.
  const account = UnverifiedAccount.forFile({ storeTimeoutMs: 20_000, hooks: { tokenClaims } });
  beforeEach(() => void (signing = async () => undefined));

  it('refuses a passkey whose registration is in progress', async () => {
    const user = await account.app.confirmed();
    const credential = account.authenticator.create(await account.app.creationOptions(user));
    const verifier = account.own(RegistrationVerifier);
    const verify = verifier.verify.bind(verifier);
    jest.spyOn(verifier, 'verify').mockImplementation(async (...args) => checkpoint.pass().then(() => verify(...args)));
    const late = await whilePaused(checkpoint, account.app.register(user, credential), () => account.reset());
    expect(late.status).toBe(401);
    expect(await account.app.rows()).toEqual([]);
  });

  const moments: [string, () => void][] = [
    ['not yet stored', () => void (signing = () => checkpoint.pass())],
    [
      'already stored',
      () => {
        const precondition = account.own(SessionPrecondition);
        const stillValid = precondition.stillValid.bind(precondition);
        jest
          .spyOn(precondition, 'stillValid')
          .mockImplementation(async (...args) => checkpoint.pass().then(() => stillValid(...args)));
      },
    ],
  ];
  it.each(moments)('refuses a passkey login whose session is %s', async (_, pauseLogin) => {
    await account.addSecondFactors();
    pauseLogin();
    const { ceremony_id, credential } = await account.app.answer(account.authenticator);
    const late = await whilePaused(checkpoint, account.app.login(ceremony_id, credential), () => account.reset());
    expect(late.status).toBe(401);
    expect(await account.living()).toEqual([]);
  });

  it('ends a session of a removed passkey also if the end after the removal fails, and the undo, too', async () => {
    await account.addSecondFactors();
    const { ceremony_id, credential } = await account.app.answer(account.authenticator);
    const sessions = account.own(Sessions);
    const endAll = sessions.endAll.bind(sessions);
    const outage = new StoreUnavailable('PostgreSQL');
    jest
      .spyOn(sessions, 'endAll')
      .mockImplementationOnce(async (...args) => {
        await endAll(...args);
        await account.app.login(ceremony_id, credential).expect(200);
      })
      .mockRejectedValueOnce(outage);
    jest.spyOn(account.own(ResetTokenStore), 'restore').mockRejectedValue(outage);
    await account.post(await account.mailed()).expect(503);
    await account.t.auth.settled();
    expect(await account.app.rows()).toEqual([]);
    expect(await account.living()).toEqual([]);
  });

  it('removes a second factor whose enrolment is in progress', async () => {
    const { access_token: token } = await account.t.session();
    const proof = await confirmationTokenOf(account.t, token);
    const codes = account.own(RecoveryCodes);
    const generate = codes.generate.bind(codes);
    jest.spyOn(codes, 'generate').mockImplementation(async () => checkpoint.pass().then(() => generate()));
    const late = await whilePaused(checkpoint, asConfirmed(account.t, 'post', '/auth/two-factor', token, proof), () =>
      account.reset(),
    );
    expect(late.status).toBe(401);
    expect(await account.factor()).toEqual(SECOND_FACTOR_REMOVED);
  });

  it('refuses to enable a second factor whose confirmation is in progress', async () => {
    const { access_token: token } = await account.t.session();
    const proof = await confirmationTokenOf(account.t, token);
    const { body } = await asConfirmed(account.t, 'post', '/auth/two-factor', token, proof).expect(200);
    const spent = account.own(UsedCodes);
    const claim = spent.claim.bind(spent);
    jest.spyOn(spent, 'claim').mockImplementation(async (...args) => checkpoint.pass().then(() => claim(...args)));
    const confirm = asConfirmed(account.t, 'post', '/auth/two-factor/confirm', token, proof);
    const code = codeOf(account.t, secretIn(body.otpauth_uri));
    expect((await whilePaused(checkpoint, confirm.send({ code }), () => account.reset())).status).toBe(401);
    expect(await account.factor()).toEqual(SECOND_FACTOR_REMOVED);
  });

  describe('with concurrent requests at each step', () => {
    /** Runs `first` before the next call of a method. */
    const before = (service: object, method: string, first: () => Promise<unknown>): void => {
      const original = (service as Record<string, (...args: unknown[]) => Promise<unknown>>)[method]!.bind(service);
      jest
        .spyOn(service as Record<string, () => unknown>, method)
        .mockImplementationOnce(async (...args: unknown[]) => first().then(() => original(...args)));
    };

    /** Sends a request, and returns when it is answered or waits for a lock of the reset. */
    const sent = async <T>(request: PromiseLike<T>): Promise<{ answer: Promise<T> }> => {
      let isAnswered = false;
      const answer = Promise.resolve(request).finally(() => (isAnswered = true));
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await eventually(async () => isAnswered || (await account.t.database.query(waiting)).length > 0);
      return { answer };
    };

    it('leaves no session of a passkey login', async () => {
      await account.app.enrol(await account.app.confirmed(), account.authenticator);
      const ceremonies = [
        await account.app.answer(account.authenticator),
        await account.app.answer(account.authenticator),
        await account.app.answer(account.authenticator),
      ];
      const logins: Promise<{ status: number }>[] = [];
      const signIn = async (): Promise<void> => {
        const { ceremony_id, credential } = ceremonies.shift()!;
        logins.push((await sent(account.app.login(ceremony_id, credential))).answer);
      };
      before(account.own(Sessions), 'endAll', signIn);
      before(account.own(PasskeyManagement), 'removeAll', async () => {
        await signIn();
        before(account.own(Sessions), 'endAll', signIn);
      });
      await account.reset();
      // One login before the sessions end, one before the passkeys are removed, and one before the sessions end again.
      expect((await Promise.all(logins)).map(({ status }) => status)).toEqual([200, 200, 422]);
      expect(await account.living()).toEqual([]);
      expect(await account.app.rows()).toEqual([]);
    });

    it.each<[string, 'savePasswordHash' | 'endAll' | 'removeAll', number]>([
      ['before the password is replaced', 'savePasswordHash', 204],
      // The confirmation has ended with the password.
      ['before the sessions end', 'endAll', 423],
      ['before the passkeys are removed', 'removeAll', 401],
    ])('leaves no passkey that is registered %s', async (_, step, status) => {
      const user = await account.app.confirmed();
      const credential = account.authenticator.create(await account.app.creationOptions(user));
      let late: Promise<{ status: number }> | undefined;
      const services = {
        savePasswordHash: account.users,
        endAll: account.own(Sessions),
        removeAll: account.own(PasskeyManagement),
      };
      before(services[step], step, async () => {
        late = (await sent(account.app.register(user, credential))).answer;
      });
      await account.reset();
      expect((await late)?.status).toBe(status);
      expect(await account.app.rows()).toEqual([]);
    });
  });
});
