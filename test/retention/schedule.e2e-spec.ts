import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { type AuthModuleOptions, Pruning } from '@svc/auth';
import { createDatabase } from '../support/database';
import { HostModule, hostOptions } from '../support/host.module';

describe('a host with @nestjs/schedule', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  beforeAll(async () => (database = await createDatabase()));
  afterAll(() => database.drop());

  async function start(options: Partial<AuthModuleOptions>, imports = [ScheduleModule.forRoot()]) {
    @Module({ imports: [...imports, HostModule.with(database.url, hostOptions(options))] })
    class Host {}
    const app = await NestFactory.create(Host, { logger: false, abortOnError: false });
    await app.init();
    return app;
  }

  it('prunes daily, and stops when the application closes', async () => {
    const app = await start({});
    const job = app.get(SchedulerRegistry).getCronJob('svc:prune');
    expect(job.cronTime.source).toBe('23 3 * * *');
    const run = jest.spyOn(app.get(Pruning), 'run').mockResolvedValue({} as never);
    await job.fireOnTick();
    expect(run).toHaveBeenCalledTimes(1);
    expect(job.isActive).toBe(true);
    await app.close();
    expect(job.isActive).toBe(false);
  });

  it('continues after a sweep that fails', async () => {
    const app = await start({});
    jest.spyOn(app.get(Pruning), 'run').mockRejectedValue(new Error('no database'));
    const unhandled = jest.fn();
    process.once('unhandledRejection', unhandled);
    await app.get(SchedulerRegistry).getCronJob('svc:prune').fireOnTick();
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
    await app.close();
  });

  it('prunes by the configured schedule, or never', async () => {
    const hourly = await start({ retention: { schedule: '5 * * * *' } });
    expect(hourly.get(SchedulerRegistry).getCronJob('svc:prune').cronTime.source).toBe('5 * * * *');
    await hourly.close();

    const never = await start({ retention: { schedule: false } });
    expect(never.get(SchedulerRegistry).getCronJobs().size).toBe(0);
    await never.close();
  });

  it('fails at boot with an invalid cron expression', async () => {
    await expect(start({ retention: { schedule: 'daily' } })).rejects.toThrow(/SVC_PRUNE_SCHEDULE.*"daily"/);
  });

  it('prunes nothing in a service that only verifies and has no tables', async () => {
    const app = await start({ routes: false });
    expect(app.get(SchedulerRegistry).getCronJobs().size).toBe(0);
    await app.close();
  });

  it('starts without importing its module', async () => {
    const app = await start({}, []);
    await app.close();
  });
});
