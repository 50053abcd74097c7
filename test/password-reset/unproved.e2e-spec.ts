import { PasskeyRemoved, TwoFactorDisabled, Verified } from '@svc/auth';
import { StoreUnavailable } from '../../libs/auth/src/kernel/auth.exception';
import { CodeFactor } from '../../libs/auth/src/second-step/code-factor';
import { PasskeyFactor } from '../../libs/auth/src/second-step/passkey-factor';
import { Sessions } from '../../libs/auth/src/sessions/sessions';
import { ADA, proofOf } from '../support/confirming';
import { member } from '../support/members';
import { NOT_VERIFIED, ORIGIN } from '../support/passkeys';
import { SoftAuthenticator } from '../support/soft-authenticator';
import { asConfirmed, codeOf, complete } from '../support/two-factor';
import { CLEARED, NEXT, UnprovedAccount } from '../support/unproved';

describe('a reset of the password of an account', () => {
  let account: UnprovedAccount;

  afterEach(async () => {
    jest.restoreAllMocks();
    await account.t.stop();
  });

  describe('whose address nobody has proved', () => {
    it('takes away the passkey and the second factor that were enrolled before, and lets the new password in alone', async () => {
      account = await UnprovedAccount.start();
      const { credentialId, token } = await account.dugIn();
      const told = [
        account.t.recorded(PasskeyRemoved),
        account.t.recorded(TwoFactorDisabled),
        account.t.recorded(Verified),
      ];
      await account.reset();
      const { status, body } = await account.app.attempt(account.authenticator);
      expect({ status, body }).toEqual({ status: 422, body: NOT_VERIFIED });
      await account.t.get('/private', token).expect(401);
      expect([await account.app.rows(), await account.living(), await account.factor()]).toEqual([[], [], CLEARED]);
      const { body: tokens } = await account.t.login(ADA, NEXT).expect(200);
      await account.t.get('/private', tokens.access_token).expect(200);
      expect(told).toEqual([
        [new PasskeyRemoved(account.userId, credentialId, 'api')],
        [new TwoFactorDisabled(account.userId, 'api')],
        [{ user: expect.objectContaining({ email: ADA }) }],
      ]);
    });

    it('leaves no enrolment pending', async () => {
      account = await UnprovedAccount.start();
      const { access_token: token } = await account.t.session();
      await asConfirmed(account.t, 'post', '/auth/two-factor', token, await proofOf(account.t, token)).expect(200);
      await account.reset();
      expect(await account.factor()).toEqual(CLEARED);
    });

    it('proves it, so that what its owner enrols then stays through the next reset', async () => {
      account = await UnprovedAccount.start({ emailVerification: { blockUnverifiedLogin: true } });
      await account.t.login(ADA).expect(403);
      await account.reset();
      const { body: session } = await account.t.login(ADA, NEXT).expect(200);
      const { body } = await account.t
        .call('post', '/auth/confirm-password', session.access_token)
        .send({ password: NEXT });
      await account.app.enrol({ ...session, proof: body.confirmation_token }, account.authenticator);
      account.t.clock.advance(61);
      await account.reset();
      await account.app.signIn(account.authenticator);
    });

    it('proves no address that has become another one meanwhile', async () => {
      account = await UnprovedAccount.start();
      const token = await account.mailed();
      const sessions = account.own(Sessions);
      const revoke = sessions.revokeAll.bind(sessions);
      jest.spyOn(sessions, 'revokeAll').mockImplementationOnce(async (...args) => {
        await account.t.database.query("UPDATE members SET email = 'eve@example.com'");
        return revoke(...args);
      });
      await account.post(token).expect(200);
      expect(await account.factor()).toEqual({ ...CLEARED, verified: false });
    });

    it('leaves the sessions where the host wants that, and takes away the rest', async () => {
      account = await UnprovedAccount.start({ passwordReset: { revokeSessions: false } });
      const { token } = await account.dugIn();
      await account.reset();
      await account.t.get('/private', token).expect(200);
      expect([await account.app.rows(), await account.factor()]).toEqual([[], CLEARED]);
    });

    it('touches the passkeys of nobody else', async () => {
      account = await UnprovedAccount.start();
      await member(account.t, 'bob@example.com');
      const his = new SoftAuthenticator(ORIGIN);
      await account.app.enrol(await account.app.confirmed('bob@example.com'), his);
      await account.dugIn();
      await account.reset();
      await account.app.signIn(his);
    });

    const down = async (): Promise<never> => Promise.reject(new StoreUnavailable('A store'));
    const faults: [string, () => void][] = [
      ['the passkeys', () => jest.spyOn(account.own(PasskeyFactor), 'removeAll').mockImplementationOnce(down)],
      ['the sessions', () => jest.spyOn(account.own(Sessions), 'revokeAll').mockImplementationOnce(down)],
      ['the second factor', () => jest.spyOn(account.own(CodeFactor), 'remove').mockImplementationOnce(down)],
      ['its proof', () => jest.spyOn(account.users, 'markEmailVerified').mockImplementationOnce(down)],
    ];
    it.each(faults)('is 503 when it fails at %s, and made whole by the same link', async (_, fail) => {
      account = await UnprovedAccount.start();
      const { token } = await account.dugIn();
      const link = await account.mailed();
      const told = [
        account.t.recorded(PasskeyRemoved),
        account.t.recorded(TwoFactorDisabled),
        account.t.recorded(Verified),
      ];
      fail();
      await account.post(link).expect(503);
      await account.post(link).expect(200);
      expect([await account.app.rows(), await account.living(), await account.factor()]).toEqual([[], [], CLEARED]);
      await account.t.get('/private', token).expect(401);
      await account.t.login(ADA, NEXT).expect(200);
      expect(told.map((events) => events.length)).toEqual([1, 1, 1]);
    });

    it('that is not known to be stored proves nothing, so that the next one takes everything away again', async () => {
      account = await UnprovedAccount.start();
      await account.dugIn();
      const link = await account.mailed();
      const users = account.users;
      jest.spyOn(users, 'savePasswordHash').mockImplementationOnce(() => new Promise(() => undefined));
      await account.post(link).expect(503);
      expect((await account.factor()).verified).toBe(false);
      await account.post(link).expect(200);
      expect([await account.app.rows(), await account.factor()]).toEqual([[], CLEARED]);
    });
  });

  describe('leaves passkey and second factor', () => {
    const stays = async (): Promise<void> => {
      const { secret } = await account.dugIn();
      await account.reset();
      await account.app.signIn(account.authenticator);
      const { body } = await account.t.login(ADA, NEXT).expect(200);
      expect(body.methods).toEqual(['totp', 'recovery_code', 'passkey']);
      await complete(account.t, { challenge_token: body.challenge_token, code: codeOf(account.t, secret) }).expect(200);
    };

    it('where the address was proved', async () => {
      account = await UnprovedAccount.start({}, { emailVerifiedAt: new Date() });
      await stays();
    });

    it('where addresses are not proved at all', async () => {
      account = await UnprovedAccount.start({ features: { emailVerification: false } });
      await stays();
      expect((await account.factor()).verified).toBe(false);
    });
  });
});
