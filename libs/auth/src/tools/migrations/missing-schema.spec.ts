import { Logger } from '@nestjs/common';
import type { AuthConfig } from '../../foundation/config/auth-config';
import type { Database } from '../../foundation/platform/database';
import { StoreUnavailable } from '../../foundation/platform/errors';
import { SchemaCheck } from './missing-schema';
import { resolveOptions } from '../../foundation/config/options.testkit';

class Row {}

const COLUMN = { entityMetadata: { tablePath: 'svc_rows' }, databaseName: 'id', isVirtualProperty: false };

describe('the check of the tables at boot', () => {
  const query = jest.fn();
  const hasTransactions = jest.fn();
  const database = {
    query,
    hasTransactions,
    hasEntity: () => true,
    source: { getMetadata: () => ({ columns: [COLUMN] }) },
  } as unknown as Database;
  let check: SchemaCheck;
  let warn: jest.SpyInstance;
  let error: jest.SpyInstance;

  beforeEach(() => {
    jest.useFakeTimers();
    warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    query.mockReset();
    hasTransactions.mockReset().mockResolvedValue(true);
    const config: AuthConfig = resolveOptions({ secret: 'x' });
    check = new SchemaCheck(database, config, { httpAdapter: {} as never }, [
      { entity: Row, migration: class CreateRows {} as never },
    ]);
  });
  afterEach(() => {
    check.onModuleDestroy();
    jest.useRealTimers();
  });

  it('is repeated while the database does not answer, and then logs what is missing as an error', async () => {
    query.mockRejectedValueOnce(new StoreUnavailable('PostgreSQL'));
    query.mockRejectedValueOnce(new StoreUnavailable('PostgreSQL'));
    query.mockResolvedValue([{ index: '0', isTable: true }]);
    await check.onApplicationBootstrap();
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('did not answer'));
    await jest.advanceTimersByTimeAsync(1000);
    expect(error).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(error.mock.calls).toEqual([[expect.stringContaining('the table svc_rows:')]]);
    expect(query).toHaveBeenCalledTimes(3);
  });

  it('is repeated until the database has everything, and then logs no error', async () => {
    query.mockRejectedValueOnce(new StoreUnavailable('PostgreSQL')).mockResolvedValue([]);
    await check.onApplicationBootstrap();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(error).not.toHaveBeenCalled();
    expect(query).toHaveBeenCalledTimes(2);
  });

  it('refuses a pooler of statements, and logs it as an error if the database answers only later', async () => {
    hasTransactions.mockResolvedValue(false);
    await expect(check.onApplicationBootstrap()).rejects.toMatchObject({
      name: 'AuthConfigError',
      message: expect.stringMatching(/pools statements.*Set pool_mode = transaction/),
    });
    expect(query).not.toHaveBeenCalled();
    hasTransactions.mockRejectedValueOnce(new StoreUnavailable('PostgreSQL'));
    await check.onApplicationBootstrap();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(error.mock.calls).toEqual([[expect.stringContaining('pools statements')]]);
  });

  it('is not repeated after the end of the application', async () => {
    query.mockRejectedValue(new StoreUnavailable('PostgreSQL'));
    await check.onApplicationBootstrap();
    check.onModuleDestroy();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(query).toHaveBeenCalledTimes(1);
  });

  it('refuses every other error of the database with its correction', async () => {
    query.mockRejectedValue(Object.assign(new Error('permission denied for schema crm'), { code: '42501' }));
    await expect(check.onApplicationBootstrap()).rejects.toMatchObject({
      name: 'AuthConfigError',
      message: expect.stringMatching(/permission denied for schema crm\. The role of the application needs USAGE/),
    });
  });
});
