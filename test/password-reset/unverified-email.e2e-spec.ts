import { setTimeout as sleep } from 'node:timers/promises';
import { PasskeyRemoved, TwoFactorDisabled, Verified } from '@svc/auth';
import { ADA, confirmationTokenOf } from '../support/flows/step-up';
import { rounds } from '../support/runtime/rounds';
import { member } from '../support/hosts/members';
import { ORIGIN, UNKNOWN_PASSKEY } from '../support/flows/passkeys';
import { whileStatementsFail } from '../support/faults/failing-statements';
import { SoftAuthenticator } from '@svc/auth/testing';
import { asConfirmed, codeOf, completeChallenge } from '../support/flows/two-factor';
import { SECOND_FACTOR_REMOVED, NEW_PASSWORD, UnverifiedAccount } from '../support/hosts/unverified-account';

describe('a reset of the password of an account', () => {
  describe('with an unverified email', () => {
    const account = UnverifiedAccount.forFile();

    it('deletes the earlier passkey and second factor, and then requires the new password alone', async () => {
      const { credentialId, token } = await account.addSecondFactors();
      const events = [
        account.t.recorded(PasskeyRemoved),
        account.t.recorded(TwoFactorDisabled),
        account.t.recorded(Verified),
      ];
      await account.reset();
      const { status, body } = await account.app.attempt(account.authenticator);
      expect({ status, body }).toEqual({ status: 422, body: UNKNOWN_PASSKEY });
      await account.t.get('/private', token).expect(401);
      expect([await account.app.rows(), await account.living(), await account.factor()]).toEqual([
        [],
        [],
        SECOND_FACTOR_REMOVED,
      ]);
      const { body: tokens } = await account.t.login(ADA, NEW_PASSWORD).expect(200);
      await account.t.get('/private', tokens.access_token).expect(200);
      expect(events).toEqual([
        [new PasskeyRemoved(account.userId, credentialId, 'api', 'platform')],
        [new TwoFactorDisabled(account.userId, 'api')],
        [{ user: expect.objectContaining({ email: ADA }) }],
      ]);
    });

    it('deletes a pending enrolment', async () => {
      const { access_token: token } = await account.t.session();
      await asConfirmed(
        account.t,
        'post',
        '/auth/two-factor',
        token,
        await confirmationTokenOf(account.t, token),
      ).expect(200);
      await account.reset();
      expect(await account.factor()).toEqual(SECOND_FACTOR_REMOVED);
    });

    it('does not verify an address that was changed meanwhile', async () => {
      const token = await account.mailed();
      const { users } = account;
      const save = users.savePasswordHash.bind(users);
      jest.spyOn(users, 'savePasswordHash').mockImplementationOnce(async (...args) => {
        const stored = await save(...args);
        await account.t.database.query("UPDATE members SET email = 'eve@example.com'");
        return stored;
      });
      await account.post(token).expect(200);
      expect(await account.factor()).toEqual({ ...SECOND_FACTOR_REMOVED, verified: false });
    });

    it('keeps the passkeys of other users', async () => {
      await member(account.t, 'bob@example.com');
      const his = new SoftAuthenticator(ORIGIN);
      await account.app.enrol(await account.app.confirmed('bob@example.com'), his);
      await account.addSecondFactors();
      await account.reset();
      await account.app.signIn(his);
    });

    it.each([
      ['the passkeys', 'DELETE ON svc_passkeys'],
      ['the sessions', 'UPDATE ON svc_sessions'],
      ['the second factor', 'UPDATE OF two_factor_secret ON members'],
      ['the verification of the email', 'UPDATE OF email_verified_at ON members'],
    ])('answers 503 when it fails at %s, and is completed by the same link', async (_, statements) => {
      const { token } = await account.addSecondFactors();
      const link = await account.mailed();
      const events = [
        account.t.recorded(PasskeyRemoved),
        account.t.recorded(TwoFactorDisabled),
        account.t.recorded(Verified),
      ];
      await whileStatementsFail(account.t, statements, () => account.post(link).expect(503));
      await account.post(link).expect(200);
      expect([await account.app.rows(), await account.living(), await account.factor()]).toEqual([
        [],
        [],
        SECOND_FACTOR_REMOVED,
      ]);
      await account.t.get('/private', token).expect(401);
      await account.t.login(ADA, NEW_PASSWORD).expect(200);
      expect(events.map((recorded) => recorded.length)).toEqual([1, 1, 1]);
    });

    it('with an unknown outcome at the store verifies no email, so that the next reset deletes all factors again', async () => {
      await account.addSecondFactors();
      const link = await account.mailed();
      const users = account.users;
      jest.spyOn(users, 'savePasswordHash').mockImplementationOnce(() => new Promise(() => undefined));
      await account.post(link).expect(503);
      expect((await account.factor()).verified).toBe(false);
      await account.post(link).expect(200);
      expect([await account.app.rows(), await account.factor()]).toEqual([[], SECOND_FACTOR_REMOVED]);
    });

    const ROUNDS = rounds(2);
    it(`removes everything that concurrent requests of another person add, in ${ROUNDS} rounds`, async () => {
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
          ...answers.map((given) => () => account.app.login(given.ceremony_id, given.credential)),
          () => account.app.register(user, credential),
          () => asConfirmed(account.t, 'post', '/auth/two-factor', user.access_token, user.proof),
        ].map(async (send) => sleep(Math.random() * 15).then(send));
        await account.post(token, email, `horse number ${round} at last`).expect(200);
        const statuses = (await Promise.all(late)).map(({ status }) => status);
        // 423: the confirmation has ended with the former password, and the session not yet.
        expect(statuses.filter((status) => ![200, 204, 401, 422, 423].includes(status))).toEqual([]);
        expect(await account.app.rows()).toEqual([]);
        const left = `SELECT id FROM svc_sessions WHERE revoked_at IS NULL AND user_id = $1
                        UNION ALL SELECT id FROM members WHERE id = $1::uuid AND two_factor_secret IS NOT NULL`;
        expect(await account.t.database.query(left, [id])).toEqual([]);
        await account.t.login(email, `horse number ${round} at last`).expect(200);
      }
    });
  });

  describe('with an unverified email and non-default options', () => {
    let account: UnverifiedAccount;
    afterEach(() => account.t.stop());

    it('verifies the email, so that factors that the owner enrols later survive the next reset', async () => {
      account = await UnverifiedAccount.start({ emailVerification: { blockUnverifiedLogin: true } });
      await account.t.login(ADA).expect(403);
      await account.reset();
      const { body: session } = await account.t.login(ADA, NEW_PASSWORD).expect(200);
      const { body } = await account.t
        .call('post', '/auth/confirm-password', session.access_token)
        .send({ password: NEW_PASSWORD });
      await account.app.enrol({ ...session, proof: body.confirmation_token }, account.authenticator);
      account.t.clock.advance(61);
      await account.reset();
      await account.app.signIn(account.authenticator);
    });

    it('keeps the sessions with passwordReset.revokeSessions off, and deletes the factors', async () => {
      account = await UnverifiedAccount.start({ passwordReset: { revokeSessions: false } });
      const { token } = await account.addSecondFactors();
      await account.reset();
      await account.t.get('/private', token).expect(200);
      expect([await account.app.rows(), await account.factor()]).toEqual([[], SECOND_FACTOR_REMOVED]);
    });
  });

  describe('keeps passkey and second factor', () => {
    let account: UnverifiedAccount;
    afterEach(() => account.t.stop());

    const expectFactorsKept = async (): Promise<void> => {
      const { secret } = await account.addSecondFactors();
      await account.reset();
      await account.app.signIn(account.authenticator);
      const { body } = await account.t.login(ADA, NEW_PASSWORD).expect(200);
      expect(body.methods).toEqual(['totp', 'recovery_code', 'passkey']);
      await completeChallenge(account.t, {
        challenge_token: body.challenge_token,
        code: codeOf(account.t, secret),
      }).expect(200);
    };

    it('when the email is verified', async () => {
      account = await UnverifiedAccount.start();
      await account.t.database.query('UPDATE members SET email_verified_at = now()');
      await expectFactorsKept();
    });

    it('when features.emailVerification is off', async () => {
      account = await UnverifiedAccount.start({ features: { emailVerification: false } });
      await expectFactorsKept();
      expect((await account.factor()).verified).toBe(false);
    });
  });
});
