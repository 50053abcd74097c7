import { AccountDeleting, AuthEvents, type AuthHooks } from '@svc/auth';
import { Checkpoint } from '../support/checkpoint';
import { ADA } from '../support/confirming';
import { LivingAccount } from '../support/living-account';

const DELETE: AuthHooks['deleteUser'] = async (user, { manager }) => {
  await manager.query('DELETE FROM members WHERE id = $1', [(user as { id: string }).id]);
};

describe('a login that races the erasure of its account', () => {
  let account: LivingAccount;
  afterEach(() => account.t.stop());

  it.each<[string, AuthHooks['deleteUser']]>([
    ['is gone', DELETE],
    ['stays', async () => undefined],
  ])('before the sweep leaves no session and no access token, where the row %s', async (_, deleteUser) => {
    account = await LivingAccount.start({ hooks: { deleteUser } });
    const { t } = account;
    const begun: string[] = [];
    // Its sessions have ended, and nothing is swept yet.
    t.app.get(AuthEvents).on(AccountDeleting, async () => {
      const tokens = await t.session();
      begun.push(tokens.access_token);
      await t.get('/private', tokens.access_token).expect(200);
    });
    expect((await account.erase()).status).toBe(204);
    await t.get('/private', begun[0]).expect(401);
    expect(await account.rows()).toMatchObject({ svc_sessions: 0, svc_refresh_tokens: 0 });
  });

  it.each<[string, AuthHooks['deleteUser']]>([
    ['is gone', DELETE],
    ['stays', async () => undefined],
  ])('between the sweep and the commit leaves none either, where the row %s', async (_, dispose) => {
    const [atLogin, atWork] = [new Checkpoint(), new Checkpoint()];
    let held = false;
    account = await LivingAccount.start({
      hooks: {
        tokenClaims: async () => {
          if (held) await atLogin.pass();
          return {};
        },
        deleteUser: async (user, context) => {
          await atWork.pass();
          await dispose!(user, context);
        },
      },
    });
    const { t } = account;
    const proof = await account.prove();
    held = true;
    // The password is verified, the session not yet stored.
    const login = t.login(ADA).then((response) => response);
    await atLogin.reached;
    const erasure = account.erase(proof);
    await Promise.race([atWork.reached, erasure]);
    atLogin.letGo();
    const { body } = await login;
    atWork.letGo();
    expect((await erasure).status).toBe(204);
    expect(body.access_token).toEqual(expect.any(String));
    await t.get('/private', body.access_token).expect(401);
    await t.refresh(body.refresh_token).expect(401);
    expect(await account.rows()).toMatchObject({ svc_sessions: 0, svc_refresh_tokens: 0 });
  });
});
