import { Pruning } from '@svc/auth';
import { TestApp } from '../support/hosts/app';

const prune = (t: TestApp) => t.app.get(Pruning).run();
const countOf = async (t: TestApp, table: string): Promise<number> =>
  (await t.database.query(`SELECT count(*)::int AS n FROM ${table}`))[0].n;

/** Rows of trusted devices: their number, the time until they expire, and their guard. */
const DEVICES = `SELECT $3::text, n, gen_random_uuid(), 'x', 'x', null, now(), now() + $2::interval
  FROM generate_series(1, $1::int) n`;

describe('a sweep of trusted devices', () => {
  const t = TestApp.forFile({ options: { storeTimeoutMs: 20_000 } });
  const add = (count: number, life: string, guard = 'api') =>
    t.database.query(`INSERT INTO svc_trusted_devices ${DEVICES}`, [count, life, guard]);

  it('deletes those that have expired, of every guard, with the features off, and in pages', async () => {
    await add(1200, '1 hour');
    await add(3, '2 hours');
    await add(2, '1 hour', 'admin');
    expect(await prune(t)).toMatchObject({ trustedDevices: 0 });
    t.clock.advance(3600);
    expect(await prune(t)).toMatchObject({ trustedDevices: 1202 });
    expect(await countOf(t, 'svc_trusted_devices')).toBe(3);
    await t.database.query('ALTER TABLE svc_trusted_devices RENAME TO elsewhere');
    expect(await prune(t)).toMatchObject({ trustedDevices: 0 });
    await t.database.query('ALTER TABLE elsewhere RENAME TO svc_trusted_devices');
  });

  it('leaves rows that another transaction uses', async () => {
    await add(2, '-1 hour');
    const runner = t.database.createQueryRunner();
    await runner.startTransaction();
    await runner.query("SELECT 1 FROM svc_trusted_devices WHERE user_id = '1' FOR UPDATE");
    expect(await prune(t)).toMatchObject({ trustedDevices: 1 });
    await runner.rollbackTransaction();
    await runner.release();
    expect(await prune(t)).toMatchObject({ trustedDevices: 1 });
  });
});
