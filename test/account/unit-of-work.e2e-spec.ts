import { StoreUnavailable } from '../../libs/auth/src/kernel/auth.exception';
import { unitOfWork } from '../../libs/auth/src/kernel/unit-of-work';
import { DataSource, type EntityManager } from 'typeorm';
import { Checkpoint } from '../support/checkpoint';
import { createDatabase } from '../support/database';

const PATIENCE_MS = 2000;

describe('host code in a transaction', () => {
  let source: DataSource;
  let drop: () => Promise<void>;

  beforeEach(async () => {
    const database = await createDatabase();
    ({ drop } = database);
    source = new DataSource({ type: 'postgres', url: database.url, installExtensions: false, extra: { max: 1 } });
    await source.initialize();
    await source.query('CREATE TABLE done (what text)');
  });
  afterEach(async () => {
    await source.destroy();
    await drop();
  });

  const done = async () => (await source.query('SELECT what FROM done')).map(({ what }: { what: string }) => what);
  const write = (manager: EntityManager, what: string) => manager.query('INSERT INTO done VALUES ($1)', [what]);

  it('is done with it', async () => {
    expect(await unitOfWork(source, 10_000, (manager) => write(manager, 'one').then(() => 'answer'))).toBe('answer');
    expect(await done()).toEqual(['one']);
  });

  it('that hangs is given up, holds no connection, and does nothing outside of it when it goes on', async () => {
    const hanging = new Checkpoint();
    const outcomes: unknown[] = [];
    const ended = new Checkpoint();
    const work = async (manager: EntityManager): Promise<void> => {
      await write(manager, 'before');
      await hanging.pass();
      outcomes.push(await write(manager, 'after').catch((error) => error));
      void ended.pass();
    };
    await expect(unitOfWork(source, PATIENCE_MS, work)).rejects.toThrow(StoreUnavailable);
    // In a pool of one.
    expect(await done()).toEqual([]);
    hanging.letGo();
    await ended.reached;
    expect(outcomes).toEqual([expect.any(Error)]);
    expect(await done()).toEqual([]);
  });

  it('that waits for a statement is given up, and what it does next is not done', async () => {
    const ended = new Checkpoint();
    const outcomes: unknown[] = [];
    const work = async (manager: EntityManager): Promise<void> => {
      await write(manager, 'before');
      await manager.query('SELECT pg_sleep(60)').catch(() => undefined);
      outcomes.push(await write(manager, 'after').catch((error) => error));
      void ended.pass();
    };
    await expect(unitOfWork(source, PATIENCE_MS, work)).rejects.toThrow(StoreUnavailable);
    await ended.reached;
    expect(outcomes).toEqual([expect.any(Error)]);
    expect(await done()).toEqual([]);
  });

  it('that swallows the error of a statement undoes it all, and it is told', async () => {
    const work = async (manager: EntityManager): Promise<void> => {
      await write(manager, 'before');
      await manager.query('SELEC').catch(() => undefined);
    };
    await expect(unitOfWork(source, 10_000, work)).rejects.toThrow(/current transaction is aborted/);
    expect(await done()).toEqual([]);
  });
});
