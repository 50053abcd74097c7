import { Realms } from '../../libs/auth/src/realm/realm';
import { RecoveryCodes } from '../../libs/auth/src/two-factor/recovery-codes';
import { SpentCodes } from '../../libs/auth/src/two-factor/spent-codes';
import type { TestApp } from '../support/app';
import { proofOf } from '../support/confirming';
import { ADA, asConfirmed, challenge, codeOf, complete, enrol, secretIn, startTwoFactor } from '../support/two-factor';

describe('a change of the second factor that another one overtakes', () => {
  let t: TestApp;
  let token: string;
  let proof: string;

  const start = () => asConfirmed(t, 'post', '/auth/two-factor', token, proof);
  const confirm = (code: string) => asConfirmed(t, 'post', '/auth/two-factor/confirm', token, proof).send({ code });
  const own = <T>(type: new (...args: never[]) => T): T => t.app.get(Realms).default.get(type as never);
  const columns = async () => (await t.database.query('SELECT * FROM people WHERE id = 1'))[0];

  /** Runs `meanwhile` while the next set of recovery codes is being made. */
  const whileMakingCodes = (meanwhile: () => PromiseLike<unknown>): void => {
    const codes = own(RecoveryCodes);
    const generate = codes.generate.bind(codes);
    jest.spyOn(codes, 'generate').mockImplementationOnce(async () => {
      await meanwhile();
      return generate();
    });
  };

  beforeEach(async () => {
    t = await startTwoFactor();
    token = (await t.session()).access_token;
    proof = await proofOf(t, token);
  });
  afterEach(() => t.stop());

  it('leaves what was confirmed meanwhile: 409', async () => {
    const secret = secretIn((await start()).body.otpauth_uri);
    whileMakingCodes(() => confirm(codeOf(t, secret)).expect(204));
    await start().expect(409);
    t.clock.advance(30);
    await complete(t, { challenge_token: await challenge(t), code: codeOf(t, secret) }).expect(200);
  });

  it('confirms no secret but the one that its code proved', async () => {
    const secret = secretIn((await start()).body.otpauth_uri);
    const spent = own(SpentCodes);
    const claim = spent.claim.bind(spent);
    jest.spyOn(spent, 'claim').mockImplementationOnce(async (match) => {
      await start().expect(200);
      return claim(match);
    });
    await confirm(codeOf(t, secret)).expect(422);
    expect((await columns()).two_factor_confirmed_at).toBeNull();
  });

  it('gives no recovery codes to whoever disabled it meanwhile: 409', async () => {
    await enrol(t);
    whileMakingCodes(() => t.auth.twoFactor.disable('1'));
    await asConfirmed(t, 'post', '/auth/two-factor/recovery-codes', token, proof).expect(409);
    expect(await columns()).toMatchObject({ two_factor_secret: null, two_factor_recovery_codes: null });
  });

  it('ends when its user is gone', async () => {
    whileMakingCodes(() => t.database.query('DELETE FROM people WHERE id = 1'));
    const { status } = await start().timeout(5000);
    expect(status).toBe(409);
  });

  it('keeps the date of the first confirmation', async () => {
    const { secret } = await enrol(t);
    const { two_factor_confirmed_at: first } = await columns();
    t.clock.advance(60);
    await confirm(codeOf(t, secret)).expect(204);
    expect((await columns()).two_factor_confirmed_at).toEqual(first);
  });

  it('may be to drop what is pending', async () => {
    await start().expect(200);
    await asConfirmed(t, 'delete', '/auth/two-factor', token, proof).expect(204);
    expect(await columns()).toMatchObject({ two_factor_secret: null, two_factor_recovery_codes: null });
  });

  it('opens no session with a factor that is pending, on a challenge from before', async () => {
    await enrol(t);
    const challenge_token = await challenge(t);
    await t.auth.twoFactor.disable('1');
    const { body } = await start().expect(200);
    await complete(t, { challenge_token, code: codeOf(t, secretIn(body.otpauth_uri)) }).expect(422);
    await complete(t, { challenge_token, recovery_code: body.recovery_codes[0] }).expect(422);
  });

  it.each([['01'], [' 1'], ['abc'], ['1\0'], ['99999999999'], ['7']])('finds nobody by the id %j', async (id) => {
    await enrol(t);
    expect(await t.auth.twoFactor.isEnabled(id)).toBe(false);
    await t.auth.twoFactor.disable(id);
    expect((await t.login(ADA).expect(200)).body.two_factor).toBe(true);
  });
});
