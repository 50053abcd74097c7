import { type EventEmitter, once } from 'node:events';
import { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import { type TestDatabase, createEmptyDatabase } from '../../../../../test/support/stores/database';
import { connectedOn } from './postgres-pool';

describe('the data source on a pool', () => {
  let database: TestDatabase;
  let pool: Pool;
  let source: DataSource;

  beforeAll(async () => {
    database = await createEmptyDatabase();
    pool = new Pool({ connectionString: database.url, max: 1 });
    await pool.query('CREATE TABLE notes (text text UNIQUE)');
    source = await connectedOn(pool, []);
  });
  beforeEach(() => pool.query('TRUNCATE notes'));
  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  const insert = (text: string) => `INSERT INTO notes VALUES ('${text}')`;
  const notes = async (): Promise<string[]> =>
    (await pool.query('SELECT text FROM notes')).rows.map(({ text }) => text);

  it('answers a statement that changes rows with their number, and every other one with its rows', async () => {
    const answers = await source.transaction(async (manager) => [
      await manager.query(`${insert('a')} RETURNING text`),
      await manager.query('UPDATE notes SET text = $1', ['b']),
      await manager.query('SELECT text FROM notes'),
      await manager.query('DELETE FROM notes RETURNING text'),
    ]);
    expect(answers).toEqual([[{ text: 'a' }], [[], 1], [{ text: 'b' }], [[{ text: 'b' }], 1]]);
  });

  it('undoes a transaction within a transaction, and keeps what was done before and after it', async () => {
    await source.transaction(async (manager) => {
      await manager.query(insert('before'));
      const inner = manager.transaction((same) => same.query(insert('before')));
      await expect(inner).rejects.toMatchObject({ code: '23505' });
      await manager.transaction(async (same) => {
        await same.query(insert('kept'));
        await expect(same.transaction(() => Promise.reject(new Error('inner')))).rejects.toThrow('inner');
      });
      await manager.query(insert('after'));
    });
    expect(await notes()).toEqual(['before', 'kept', 'after']);
  });

  it('rolls a failed transaction back, and gives its connection back', async () => {
    const failing = source.transaction(async (manager) => {
      await manager.query(insert('lost'));
      throw new Error('of the host');
    });
    await expect(failing).rejects.toThrow('of the host');
    expect(await notes()).toEqual([]);
  });

  it('gives a broken connection back to be closed, and takes no statement on one that was given back', async () => {
    const runner = source.createQueryRunner();
    const isBroken = once((await runner.connect()) as EventEmitter, 'error');
    await expect(runner.query('SELECT pg_terminate_backend(pg_backend_pid())')).rejects.toThrow();
    await isBroken;
    expect(pool.totalCount).toBe(0);
    await runner.release();
    await expect(runner.query('SELECT 1')).rejects.toThrow('already released');
    expect(await source.transaction((manager) => manager.query('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
    expect(pool.totalCount).toBe(1);
  });
});
