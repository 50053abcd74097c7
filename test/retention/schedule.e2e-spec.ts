import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { type AuthModuleOptions, Pruning, authOptionsFromEnv } from '@svc/auth';
import { TestApp } from '../support/hosts/app';
import { createDatabase } from '../support/stores/database';
import { eventually } from '../support/runtime/eventually';
import { HostModule, hostOptions } from '../support/hosts/host.module';

const EVERY_SECOND = { schedule: '* * * * * *' };

describe('a host with @nestjs/schedule', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  beforeAll(async () => (database = await createDatabase()));
  afterAll(() => database.drop());

  function hostWith(options: Partial<AuthModuleOptions>, imports = [ScheduleModule.forRoot()]) {
    @Module({ imports: [...imports, HostModule.with(database.url, hostOptions({ retention: {}, ...options }))] })
    class Host {}
    return Host;
  }

  async function start(options: Partial<AuthModuleOptions>, imports = [ScheduleModule.forRoot()]) {
    const app = await NestFactory.create(hostWith(options, imports), { logger: false, abortOnError: false });
    await app.init();
    return app;
  }

  it('prunes daily, and stops when the application closes', async () => {
    const app = await start({});
    const job = app.get(SchedulerRegistry).getCronJob('svc:prune');
    expect(job.cronTime.source).toBe('23 3 * * *');
    const run = jest.spyOn(app.get(Pruning), 'runUnlessActive').mockResolvedValue(null);
    await job.fireOnTick();
    expect(run).toHaveBeenCalledTimes(1);
    expect(job.isActive).toBe(true);
    await app.close();
    expect(job.isActive).toBe(false);
  });

  it('continues after a sweep that fails', async () => {
    const app = await start({});
    jest.spyOn(app.get(Pruning), 'runUnlessActive').mockRejectedValue(new Error('no database'));
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

  it('fails at boot with an invalid cron expression, also without the module', async () => {
    for (const imports of [[ScheduleModule.forRoot()], []])
      await expect(start({ retention: { schedule: 'daily' } }, imports)).rejects.toThrow(/SVC_PRUNE_SCHEDULE.*"daily"/);
  });

  it('prunes nothing in a service that only verifies', async () => {
    const verifying = await start({ verifyOnly: true });
    expect(verifying.get(SchedulerRegistry).getCronJobs().size).toBe(0);
    await verifying.close();

    const own = await start({ routes: false });
    expect(own.get(SchedulerRegistry).getCronJob('svc:prune').cronTime.source).toBe('23 3 * * *');
    await own.close();

    const shared = await start({ verifyOnly: true, ...authOptionsFromEnv({ SVC_PRUNE_SCHEDULE: '0 4 * * *' }) });
    expect(shared.get(SchedulerRegistry).getCronJobs().size).toBe(0);
    await shared.close();
  });

  it('prunes nothing in an application without an HTTP server, such as a console', async () => {
    const context = await NestFactory.createApplicationContext(hostWith({}), { logger: false, abortOnError: false });
    expect(context.get(SchedulerRegistry).getCronJobs().size).toBe(0);
    await context.close();
  });
});

describe.each([
  ['without @nestjs/schedule', []],
  ['with @nestjs/schedule', [ScheduleModule.forRoot()]],
])('a host %s', (_, imports) => {
  const t = TestApp.forFile({ options: { retention: EVERY_SECOND }, imports });

  it('deletes its expired rows by itself', async () => {
    await t.database.query("INSERT INTO svc_password_resets VALUES ('api', '', '1', 'x', 'x', now() - interval '2 h')");
    await t.database.query("INSERT INTO svc_password_resets VALUES ('api', '', '2', 'x', 'x', now())");
    const left = async (): Promise<string[]> =>
      (await t.database.query('SELECT user_id FROM svc_password_resets')).map(
        (row: { user_id: string }) => row.user_id,
      );
    await eventually(async () => (await left()).length < 2);
    expect(await left()).toEqual(['2']);
  });
});
