import { AccountDeleted, AccountDeleting, AuthEvents, type AuthHooks } from '@svc/auth';
import type { TestApp } from '../support/app';
import { LivingAccount } from '../support/living-account';
import type { Member } from '../support/people';

type DeleteUser = NonNullable<AuthHooks['deleteUser']>;

const ANONYMISE = `UPDATE members SET name = 'gone', email = 'gone', password_hash = NULL,
  two_factor_secret = NULL, two_factor_recovery_codes = NULL, two_factor_confirmed_at = NULL`;

describe('hooks.deleteUser', () => {
  let account: LivingAccount;
  let t: TestApp;
  let deleted: AccountDeleted[];

  async function start(deleteUser: DeleteUser, more = {}): Promise<void> {
    account = await LivingAccount.start({ hooks: { deleteUser } }, more);
    ({ t } = account);
    deleted = t.recorded(AccountDeleted);
  }
  afterEach(() => t.stop());

  it('removes the user as the host wants it, inside the transaction of everything else', async () => {
    const seen: unknown[] = [];
    await start(async (user, { guard, manager }) => {
      seen.push([(user as Member).id, guard]);
      await manager.query(ANONYMISE);
    });
    await account.live();
    expect((await account.erase()).status).toBe(204);
    expect(seen).toEqual([[account.id, 'api']]);
    expect(await t.database.query('SELECT name FROM members')).toEqual([{ name: 'gone' }]);
    await t.database.query('DELETE FROM members');
    await account.forgetTheOther();
    expect(await account.mentions()).toEqual([]);
  });

  it.each<[string, DeleteUser, number]>([
    ['throws', async () => Promise.reject(new Error('half way')), 500],
    [
      'cuts the connection',
      async (_, { manager }) => {
        const [{ pid }] = await manager.query('SELECT pg_backend_pid() AS pid');
        await t.database.query('SELECT pg_terminate_backend($1)', [pid]);
      },
      503,
    ],
    // PostgreSQL would answer the COMMIT with a ROLLBACK, and nobody would know.
    ['swallows the error of a statement', async (_, { manager }) => manager.query('SELEC').catch(() => undefined), 500],
  ])('leaves the account whole where it %s', async (_, fail, expected) => {
    await start(async (user, context) => {
      await context.manager.query(ANONYMISE);
      await fail(user, context);
    });
    await account.live();
    const proof = await account.prove();
    const whole = await account.rows();
    expect((await account.erase(proof)).status).toBe(expected);
    expect(await account.rows()).toEqual(whole);
    expect(await t.database.query('SELECT name FROM members')).toEqual([{ name: 'Ada' }]);
    expect(deleted).toEqual([]);
    // And can be erased by whoever signs in anew.
    expect((await t.login(account.email)).status).toBe(200);
  });

  it.each<[number, string, (more: () => Promise<unknown>) => Promise<unknown>]>([
    [2, 'and one beside it', (beside) => beside()],
    [1, 'and none beside it', async () => undefined],
  ])('has its connection in a pool of %i, %s', async (max, _, twice) => {
    await start(
      async (user, { manager }) => {
        await twice(() => t.database.query('SELECT 1'));
        await manager.query('DELETE FROM members WHERE id = $1', [(user as Member).id]);
      },
      { pool: { max } },
    );
    t.app.get(AuthEvents).on(AccountDeleting, () => t.database.query('SELECT 1'));
    expect((await account.erase()).status).toBe(204);
    expect(deleted).toHaveLength(1);
  });
});
