import { type AuthModuleOptions, Pruning, UserProvider } from '@svc/auth';
import { Realms } from '../../libs/auth/src/realm/realm';
import { TestApp } from '../support/app';

describe('a sweep of passkeys', () => {
  let t: TestApp;

  const start = async (options: Partial<AuthModuleOptions> = {}): Promise<void> => {
    t = await TestApp.start({ options });
    for (const name of ['ada', 'bob', 'eve']) await t.person(`${name}@example.com`);
    await t.person('root@example.com', 'admin');
  };
  afterEach(() => t.stop());

  const store = (guard: string | null, ...users: string[]): Promise<unknown> =>
    t.database.query(
      `INSERT INTO passkeys (credential_id, user_id, guard, public_key, aaguid, backup_eligible, backed_up, created_at, updated_at)
       SELECT gen_random_uuid(), id, $1, '', gen_random_uuid(), false, false, now(), now() FROM unnest($2::text[]) id`,
      [guard, users],
    );
  const prune = async (): Promise<number> => (await t.app.get(Pruning).run()).passkeys;
  const left = async (): Promise<string[]> =>
    (await t.database.query("SELECT coalesce(guard, '') AS guard, user_id FROM passkeys ORDER BY 1, 2")).map(
      (row: { guard: string; user_id: string }) => `${row.guard}:${row.user_id}`,
    );

  it('deletes those whose user is gone, by the table of their own guard', async () => {
    await start();
    await store('api', '1', '1', '2', '3', '99');
    await store('admin', '1', '2');
    await t.database.query('DELETE FROM people WHERE id = 3');
    expect(await prune()).toBe(3);
    expect(await left()).toEqual(['admin:1', 'api:1', 'api:1', 'api:2']);
    expect(await prune()).toBe(0);
  });

  it('leaves those alone whose guard it does not know, or whose user it cannot ask for', async () => {
    await start();
    await store(null, '99');
    await store('former', '99');
    await store('api', 'not a number', '99999999999999999999', '99');
    expect(await prune()).toBe(1);
    expect(await left()).toEqual([':99', 'api:99999999999999999999', 'api:not a number', 'former:99']);
  });

  it('goes on past any number of rows', async () => {
    await start();
    await store('api', ...Array.from({ length: 1200 }, (_, n) => String(n % 4 === 0 ? 1 : n + 10)));
    expect(await prune()).toBe(900);
    expect(await left()).toHaveLength(300);
  });

  it('leaves those of users who are deleted softly', async () => {
    await start();
    await store('api', '1', '2');
    await t.database.query('ALTER TABLE people ADD deleted_at timestamptz');
    await t.database.query('UPDATE people SET deleted_at = now() WHERE id = 1');
    expect(await prune()).toBe(0);
  });

  it('guesses nothing where the user provider cannot say who is there', async () => {
    await start();
    await store('api', '99');
    jest.spyOn(t.app.get(Realms).default.get(UserProvider), 'present').mockResolvedValue(null);
    expect(await prune()).toBe(0);
    expect(await left()).toEqual(['api:99']);
  });

  it.each([
    ['its table', 'ALTER TABLE passkeys RENAME TO elsewhere'],
    ['the users` table', 'ALTER TABLE people RENAME TO elsewhere'],
    ['the users` id', 'ALTER TABLE people RENAME id TO key'],
    ['its column', 'ALTER TABLE passkeys RENAME user_id TO owner'],
  ])('is no obstacle to the others without %s', async (_, statement) => {
    await start({ refreshTtl: 10 });
    await t.session();
    await store('api', '99');
    t.clock.advance(11);
    await t.database.query(statement);
    expect(await t.app.get(Pruning).run()).toMatchObject({ sessions: 1, passkeys: 0 });
  });

  it('waits for no passkey that is being used', async () => {
    await start();
    await store('api', '98', '99');
    const runner = t.database.createQueryRunner();
    await runner.startTransaction();
    await runner.query("SELECT 1 FROM passkeys WHERE user_id = '98' FOR UPDATE");
    expect(await prune()).toBe(1);
    await runner.rollbackTransaction();
    await runner.release();
    expect(await prune()).toBe(1);
  });
});
