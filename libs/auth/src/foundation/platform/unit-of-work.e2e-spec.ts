import { DataSource, type EntityManager } from 'typeorm';
import { PausePoint } from '../../../../../test/support/faults/pause-point';
import { createDatabase } from '../../../../../test/support/stores/database';
import { StoreUnavailable } from './errors';
import { unitOfWork } from './unit-of-work';

const TIMEOUT_MS = 10_000;

const REAL_TIMERS = [
  'Date',
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'setInterval',
] as const;

describe('host code in a transaction', () => {
  let source: DataSource;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const database = await createDatabase();
    ({ drop } = database);
    source = new DataSource({ type: 'postgres', url: database.url, installExtensions: false, extra: { max: 1 } });
    await source.initialize();
    await source.query('CREATE TABLE done (what text)');
  });
  beforeEach(async () => {
    await source.query('DELETE FROM done');
    // The tests advance the timeout.
    jest.useFakeTimers({ doNotFake: [...REAL_TIMERS] });
  });
  afterEach(() => jest.useRealTimers());
  afterAll(async () => {
    await source.destroy();
    await drop();
  });

  const done = async () => (await source.query('SELECT what FROM done')).map(({ what }: { what: string }) => what);
  const write = (manager: EntityManager, what: string) => manager.query('INSERT INTO done VALUES ($1)', [what]);

  it('commits and returns its result', async () => {
    expect(await unitOfWork(source, 10_000, (_, manager) => write(manager, 'one').then(() => 'answer'))).toBe('answer');
    expect(await done()).toEqual(['one']);
  });

  it('that hangs times out, releases its connection, and cannot write when it continues', async () => {
    const hanging = new PausePoint();
    const outcomes: unknown[] = [];
    const ended = new PausePoint();
    const work = async (_: unknown, manager: EntityManager): Promise<void> => {
      await write(manager, 'before');
      await hanging.pass();
      outcomes.push(await write(manager, 'after').catch((error) => error));
      void ended.pass();
    };
    const outcome = unitOfWork(source, TIMEOUT_MS, work).catch((error: unknown) => error);
    await hanging.reached;
    jest.advanceTimersByTime(TIMEOUT_MS);
    expect(await outcome).toBeInstanceOf(StoreUnavailable);
    // The pool has one connection: this query shows that it was released.
    expect(await done()).toEqual([]);
    hanging.resume();
    await ended.reached;
    expect(outcomes).toEqual([expect.any(Error)]);
    expect(await done()).toEqual([]);
  });

  it('that waits for a statement times out, and its next statement has no effect', async () => {
    const [waiting, ended] = [new PausePoint(), new PausePoint()];
    const outcomes: unknown[] = [];
    const work = async (_: unknown, manager: EntityManager): Promise<void> => {
      await write(manager, 'before');
      void waiting.pass();
      await manager.query('SELECT pg_sleep(60)').catch(() => undefined);
      outcomes.push(await write(manager, 'after').catch((error) => error));
      void ended.pass();
    };
    const outcome = unitOfWork(source, TIMEOUT_MS, work).catch((error: unknown) => error);
    await waiting.reached;
    jest.advanceTimersByTime(TIMEOUT_MS);
    expect(await outcome).toBeInstanceOf(StoreUnavailable);
    await ended.reached;
    expect(outcomes).toEqual([expect.any(Error)]);
    expect(await done()).toEqual([]);
  });

  it('that catches the error of a statement is rolled back, and the call rejects', async () => {
    const work = async (_: unknown, manager: EntityManager): Promise<void> => {
      await write(manager, 'before');
      await manager.query('SELEC').catch(() => undefined);
    };
    await expect(unitOfWork(source, 10_000, work)).rejects.toThrow(/current transaction is aborted/);
    expect(await done()).toEqual([]);
  });
});
