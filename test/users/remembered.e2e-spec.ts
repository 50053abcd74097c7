import { TestApp, claimsOf } from '../support/app';
import { Greeting } from '../support/accounts';
import { member, membersForFile } from '../support/members';
import { PASSWORD } from '../support/people';

const SECONDS = 5;
const NEW_PASSWORD = 'a-much-longer-passphrase-of-mine';

describe('a host that lets guarded requests remember their users', () => {
  const { t } = membersForFile({ userCacheSeconds: SECONDS });
  let id: string;
  let token: string;
  let other: () => string;

  beforeEach(async () => {
    t.clock.stop();
    const email = `ada-${Math.random()}@example.com`;
    id = await member(t, email);
    ({ access_token: token } = await t.session(email));
  });

  const nameOf = async (): Promise<string> => (await t.get('/private', token).expect(200)).body.user.name;
  const rename = (name: string) => t.database.query('UPDATE members SET name = $2 WHERE id = $1', [id, name]);

  it('reads the user once in that time, and sees what the host changed when it is over', async () => {
    expect(await nameOf()).toBe('Ada');
    await rename('Countess');
    t.clock.advance(SECONDS - 1);
    expect(await nameOf()).toBe('Ada');
    t.clock.advance(1);
    expect(await nameOf()).toBe('Countess');
  });

  it('lets a user whom the host deleted in for that time, and no longer', async () => {
    await nameOf();
    await t.database.query('DELETE FROM members WHERE id = $1', [id]);
    await t.get('/private', token).expect(200);
    t.clock.advance(SECONDS);
    await t.get('/private', token).expect(401);
  });

  it('refuses a revoked token at once: revocation is never remembered', async () => {
    await nameOf();
    await t.call('post', '/auth/logout', token).expect(204);
    await t.get('/private', token).expect(401);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a session of the user ends', () => t.auth.revoke(other())],
    ['all others of them end', () => t.call('delete', '/auth/sessions/others', token).expect(204)],
  ])('forgets the user when %s', async (_, act) => {
    const { accessToken } = await t.auth.startSession(id);
    other = () => claimsOf(accessToken).fid as string;
    await nameOf();
    await rename('Countess');
    await act();
    expect(await nameOf()).toBe('Countess');
  });

  it('forgets the user whose password is changed', async () => {
    await nameOf();
    await rename('Countess');
    const changed = { current_password: PASSWORD, password: NEW_PASSWORD, password_confirmation: NEW_PASSWORD };
    await t.call('post', '/auth/password', token).send(changed).expect(200);
    expect(await nameOf()).toBe('Countess');
  });

  it('asks PostgreSQL for whoever signs in', async () => {
    const email = (await t.get('/private', token)).body.user.email;
    await t.database.query('DELETE FROM members WHERE id = $1', [id]);
    await t.get('/private', token).expect(200);
    await t.login(email).expect(422);
  });
});

it('is refused for an entity that is more than one row', async () => {
  await expect(
    TestApp.start({ entities: [Greeting], options: { users: { entity: Greeting }, userCacheSeconds: 5 } }),
  ).rejects.toThrow(/userCacheSeconds/);
});
