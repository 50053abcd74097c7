import { ADA, codeOf, completeChallenge, twoFactorForFile } from '../../../../../test/support/flows/two-factor';
import { SecondFactors } from './stored-factors';

describe('a stored secret that decrypts', () => {
  const t = twoFactorForFile();

  const store = async (secret: string): Promise<void> => {
    const encrypted = t.app.get(SecondFactors).encrypted('1', secret);
    await t.database.query('UPDATE people SET two_factor_secret = $1, two_factor_confirmed_at = now()', [encrypted]);
  };
  const login = async () => (await t.login(ADA).expect(200)).body;

  it.each([
    ['is not base32', 'not base32!'],
    ['has too few bytes', 'GEZDGNBVGY3TQOI'],
    ['has too many bytes', 'A'.repeat(104)],
    ['has an impossible length', 'GEZDGNBVGY3TQOJQG'],
    ['is binary', '\u0000\uFFFD'],
  ])('but %s is not listed by the login, and accepts no code', async (_, secret) => {
    await store(secret);
    const { methods, challenge_token } = await login();
    expect(methods).toEqual([]);
    await completeChallenge(t, { challenge_token, code: '123456' }).expect(422);
    await expect(t.auth.twoFactor.confirm('1', '123456')).rejects.toMatchObject({ code: 'wrong_code' });
  });

  it('and has 80 bits is listed, and accepts its codes', async () => {
    await store('GEZDGNBVGY3TQOJQ');
    const { methods, challenge_token } = await login();
    expect(methods).toEqual(['totp']);
    await completeChallenge(t, { challenge_token, code: codeOf(t, 'GEZDGNBVGY3TQOJQ') }).expect(200);
  });
});
