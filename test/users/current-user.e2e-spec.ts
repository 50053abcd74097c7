import type { TestApp } from '../support/hosts/app';
import { member, membersForFile } from '../support/hosts/members';

describe('a guarded request', () => {
  const { t } = membersForFile();
  // A second process on the same stores.
  const { t: other } = membersForFile({}, () => ({ databaseUrl: t.databaseUrl }));
  let id: string;
  let token: string;

  beforeEach(async () => {
    id = await member(t, 'ada@example.com');
    ({ access_token: token } = await t.session());
    // Both processes read the user first, so that a copy in memory would be detected.
    for (const node of [t, other]) expect(await nameAt(node)).toBe('Ada');
  });

  const nameAt = async (node: TestApp): Promise<string> =>
    (await node.get('/private', token).expect(200)).body.user.name;
  const sql = (text: string) => t.database.query(text, [id]);

  it('reads the stored user in every process, immediately after a change', async () => {
    for (const name of ['Countess', 'Lovelace']) {
      await sql(`UPDATE members SET name = '${name}' WHERE id = $1`);
      for (const node of [t, other]) expect(await nameAt(node)).toBe(name);
    }
  });

  it.each([
    ['is deleted', 'DELETE FROM members WHERE id = $1'],
    ['is marked as deleted', 'UPDATE members SET deleted_at = now() WHERE id = $1'],
  ])('is refused in every process immediately after its user %s', async (_, change) => {
    await sql(change);
    for (const node of [t, other]) await node.get('/private', token).expect(401);
  });

  it('is accepted again immediately after its user is restored', async () => {
    await sql('UPDATE members SET deleted_at = now() WHERE id = $1');
    await t.get('/private', token).expect(401);
    await sql('UPDATE members SET deleted_at = NULL WHERE id = $1');
    for (const node of [t, other]) await node.get('/private', token).expect(200);
  });
});
