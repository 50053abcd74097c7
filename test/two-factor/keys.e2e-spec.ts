import { TestApp } from '../support/app';
import { ENCRYPTION_KEY } from '../support/host.module';
import { ADA, type Enrolled, challenge, codeOf, complete, enrol, startTwoFactor } from '../support/two-factor';

const NEW_KEY = 'a-new-key-of-encryption-at-rest-0123456789';

describe('a secret at rest', () => {
  let first: TestApp;
  let t: TestApp;
  let ada: Enrolled;

  /** The same database and the same users, under other keys. */
  const restarted = async (encryption: { key: string; previousKeys?: string[] }): Promise<TestApp> => {
    const options = { features: { twoFactor: true }, encryption };
    t = await TestApp.start({ options, databaseUrl: first.databaseUrl });
    t.clock.advance(90);
    return t;
  };
  const answer = async (body: object) => complete(t, { challenge_token: await challenge(t), ...body });

  beforeEach(async () => {
    first = await startTwoFactor();
    ada = await enrol(first);
  });
  afterEach(async () => {
    await t.stop();
    await first.stop();
  });

  it('is read with a former key', async () => {
    await restarted({ key: NEW_KEY, previousKeys: [ENCRYPTION_KEY] });
    await answer({ code: codeOf(t, ada.secret) }).then(({ status }) => expect(status).toBe(200));
  });

  it('of a lost key leaves the recovery codes, and the login says so', async () => {
    await restarted({ key: NEW_KEY });
    expect((await t.login(ADA).expect(200)).body.methods).toEqual(['recovery_code']);
    const { status, body } = await answer({ code: codeOf(t, ada.secret) });
    expect({ status, body }).toEqual({
      status: 422,
      body: { message: 'The code is not correct.', errors: { code: ['The code is not correct.'] } },
    });
    expect((await answer({ recovery_code: ada.recoveryCodes[0] })).status).toBe(200);
  });

  it('of a lost key does not let the password alone in, even without recovery codes', async () => {
    await restarted({ key: NEW_KEY });
    await t.database.query(`UPDATE people SET two_factor_recovery_codes = '[]'`);
    const { body } = await t.login(ADA).expect(200);
    expect(body).toEqual({ two_factor: true, challenge_token: expect.any(String), methods: [] });
  });

  it('of a lost key cannot be confirmed, and can be enrolled anew', async () => {
    await restarted({ key: NEW_KEY });
    await t.database.query('UPDATE people SET two_factor_confirmed_at = NULL');
    await expect(t.auth.twoFactor.confirm('1', codeOf(t, ada.secret))).rejects.toMatchObject({ code: 'wrong_code' });
    await enrol(t);
  });

  it.each([
    ['empty', ''],
    ['plain', 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'],
    ['no text of ours', 'v1.00000000.AAAA'],
  ])('that is %s is no secret', async (_, secret) => {
    t = await TestApp.start({ options: { features: { twoFactor: true } }, databaseUrl: first.databaseUrl });
    await t.database.query('UPDATE people SET two_factor_secret = $1', [secret]);
    for (const code of ['', '000000', codeOf(t, 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ')]) {
      expect((await answer({ code })).status).toBe(422);
    }
    expect((await answer({ recovery_code: ada.recoveryCodes[0] })).status).toBe(200);
  });

  it('is bound to its user: in another row it is none', async () => {
    t = await TestApp.start({ options: { features: { twoFactor: true } }, databaseUrl: first.databaseUrl });
    await t.person('mallory@example.com');
    await t.database.query(
      `UPDATE people m SET two_factor_secret = a.two_factor_secret, two_factor_confirmed_at = now()
         FROM people a WHERE a.id = 1 AND m.id = 2`,
    );
    t.clock.advance(90);
    const challenge_token = await challenge(t, 'mallory@example.com');
    await complete(t, { challenge_token, code: codeOf(t, ada.secret) }).expect(422);
  });
});
