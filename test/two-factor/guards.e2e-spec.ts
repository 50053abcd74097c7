import { Operator, Person } from '../support/people';
import { ADMIN_AUDIENCE } from '../support/host.module';
import type { TestApp } from '../support/app';
import { claimsOf } from '../support/app';
import { routesOf } from '../support/routes';
import { ADA, challenge, codeOf, complete, enrol, secretIn, startTwoFactor } from '../support/two-factor';

const ROOT = 'root@example.com';

describe('the second factor of several guards', () => {
  let t: TestApp;

  /** The operator has the id of ada, and a second factor of the own. */
  const operator = async () => {
    await t.person(ROOT, 'admin');
    const { twoFactor } = t.auth.guard('admin');
    const { otpauthUri, recoveryCodes } = await twoFactor.enrol(
      (await t.database.getRepository(Operator).findOneBy({ id: 1 }))!,
    );
    const secret = secretIn(otpauthUri);
    await twoFactor.confirm('1', codeOf(t, secret));
    t.clock.advance(30);
    return { secret, recoveryCodes, otpauthUri };
  };

  afterEach(() => t.stop());

  it('has a challenge route wherever a login can challenge, and enrolment at the default guard', async () => {
    t = await startTwoFactor();
    expect(routesOf(t).filter((route) => route.includes('two-factor'))).toEqual([
      'DELETE /auth/two-factor',
      'GET /auth/two-factor/recovery-codes',
      'POST /admin/auth/two-factor-challenge',
      'POST /auth/two-factor',
      'POST /auth/two-factor-challenge',
      'POST /auth/two-factor/confirm',
      'POST /auth/two-factor/recovery-codes',
    ]);
  });

  it('is asked for where the guard has it on', async () => {
    t = await startTwoFactor({ guards: { admin: { features: { twoFactor: false } } } });
    await t.person(ROOT, 'admin');
    await enrol(t);
    expect((await t.login(ROOT, undefined, 'admin').expect(200)).body.access_token).toEqual(expect.any(String));
    await complete(t, { challenge_token: await challenge(t) }, 'admin').expect(404);
    expect(() => t.auth.guard('admin').twoFactor).toThrow(/features\.twoFactor is off for the guard "admin"/);
  });

  it('is enrolled by server code at a guard without routes for it', async () => {
    t = await startTwoFactor();
    const root = await operator();
    expect(decodeURIComponent(root.otpauthUri)).toContain(`:${ROOT}?`);
    const challenge_token = await challenge(t, ROOT, 'admin');
    const { body } = await complete(t, { challenge_token, code: codeOf(t, root.secret) }, 'admin').expect(200);
    expect(claimsOf(body.access_token)).toMatchObject({ aud: ADMIN_AUDIENCE, sub: '1', amr: ['pwd', 'otp'] });
  });

  it('is one guard`s own: a challenge of one is none at the other, and nothing is used up', async () => {
    t = await startTwoFactor();
    const [ada, root] = [await enrol(t), await operator()];
    const own = { api: ada, admin: root };
    for (const [from, at, email] of [
      ['admin', 'api', ROOT],
      ['api', 'admin', ADA],
    ] as const) {
      const challenge_token = await challenge(t, email, from);
      for (const { secret, recoveryCodes } of [own[from], own[at]]) {
        for (const answer of [{ code: codeOf(t, secret) }, { recovery_code: recoveryCodes[0] }]) {
          const { body } = await complete(t, { challenge_token, ...answer }, at).expect(422);
          expect(Object.keys(body.errors)).toEqual(['challenge_token']);
        }
      }
      await complete(t, { challenge_token, code: codeOf(t, own[from].secret) }, from).expect(200);
    }
    expect(await t.auth.twoFactor.recoveryCodeCount('1')).toEqual({ remaining: 8, total: 8 });
  });

  it('keeps one history of codes for a table that two guards share', async () => {
    t = await startTwoFactor({ guards: { admin: { users: { entity: Person } } } });
    const ada = await enrol(t);
    const code = codeOf(t, ada.secret);
    await complete(t, { challenge_token: await challenge(t, ADA, 'admin'), code }, 'admin').expect(200);
    await complete(t, { challenge_token: await challenge(t), code }).expect(422);
    await complete(t, { challenge_token: await challenge(t), code: codeOf(t, ada.secret, -1) }).expect(422);
  });
});
