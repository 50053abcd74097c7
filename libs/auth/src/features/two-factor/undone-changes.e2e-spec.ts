import { confirmationTokenOf } from '../../../../../test/support/flows/step-up';
import {
  asConfirmed,
  codeOf,
  completeChallenge,
  enrol,
  secretIn,
  startChallenge,
  twoFactorForFile,
} from '../../../../../test/support/flows/two-factor';
import { StoreUnavailable } from '../../foundation/platform/errors';
import { Sessions } from '../sessions/sessions';
import { TwoFactorEnabled } from './two-factor.events';

describe('a change of the second factor, when a store does not answer after it is stored', () => {
  const t = twoFactorForFile();
  // The default guard is the last one that the module declares, and Nest returns the last one.
  const fails = () =>
    jest.spyOn(t.app.get(Sessions), 'isAlive').mockRejectedValueOnce(new StoreUnavailable('PostgreSQL'));

  it('is undone: a factor can be confirmed with the next code, and is reported once', async () => {
    const enabled = t.recorded(TwoFactorEnabled);
    const { access_token: token } = await t.session();
    const proof = await confirmationTokenOf(t, token);
    const { body } = await asConfirmed(t, 'post', '/auth/two-factor', token, proof).expect(200);
    const confirm = () =>
      asConfirmed(t, 'post', '/auth/two-factor/confirm', token, proof).send({
        code: codeOf(t, secretIn(body.otpauth_uri)),
      });
    fails();
    await confirm().expect(503);
    expect(await t.auth.twoFactor.isEnabled('1')).toBe(false);
    t.clock.advance(30);
    await confirm().expect(204);
    expect(enabled).toHaveLength(1);
  });

  it('is undone: the former recovery codes are valid', async () => {
    const ada = await enrol(t);
    fails();
    await asConfirmed(t, 'post', '/auth/two-factor/recovery-codes', ada.token, ada.proof).expect(503);
    const challenge_token = await startChallenge(t);
    await completeChallenge(t, { challenge_token, recovery_code: ada.recoveryCodes[0] }).expect(200);
  });
});
