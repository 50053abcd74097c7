import { Logger } from '@nestjs/common';
import type { HttpAdapterHost, ModuleRef } from '@nestjs/core';
import type { AuthModuleOptions } from '../../foundation/config/auth-options';
import { PruneSchedule } from './prune-schedule';
import type { Pruned } from '../../foundation/realm/feature-data';
import type { Pruning } from './pruning';
import { authOptionsFromEnv, resolveOptions } from '../../foundation/config/options.testkit';

const NONE: Pruned = {
  accessKeys: 0,
  audit: 0,
  securityEvents: 0,
  sessions: 0,
  lockoutCounters: 0,
  passkeys: 0,
  resetTokens: 0,
  emailChanges: 0,
  identities: 0,
  knownDevices: 0,
  deviceKeys: 0,
  trustedDevices: 0,
  emailDeliveries: 0,
  suspensions: 0,
};

/** Without `ScheduleModule` in the host. */
const moduleRef = {
  get: () => {
    throw new Error('unknown element');
  },
} as unknown as ModuleRef;

describe('the timer for pruning', () => {
  const runUnlessActive = jest.fn<Promise<Pruned | null>, []>();
  let schedule: PruneSchedule | undefined;

  beforeEach(() => {
    jest.spyOn(Logger.prototype, 'debug').mockImplementation(() => undefined);
    jest.useFakeTimers({ now: new Date(2026, 5, 1, 12) });
    runUnlessActive.mockReset().mockResolvedValue(NONE);
  });
  afterEach(() => {
    delete process.env.SVC_PRUNE_SCHEDULE;
    schedule?.onModuleDestroy();
    jest.useRealTimers();
  });

  function start(options: AuthModuleOptions, httpAdapter: object | undefined = {}): PruneSchedule {
    const adapterHost = { httpAdapter } as HttpAdapterHost;
    const pruning = { runUnlessActive } as unknown as Pruning;
    schedule = new PruneSchedule(moduleRef, adapterHost, pruning, resolveOptions(options));
    schedule.onApplicationBootstrap();
    return schedule;
  }

  /** Runs every hour: each simulated hour costs processor time. */
  const HALF_PAST: AuthModuleOptions = { retention: { schedule: '30 * * * *' } };
  const HOUR = 3_600_000;
  /**
   * Moves the clock. The timer looks at the clock every 30 seconds, and `advanceTimersByTimeAsync` would wait in real time for
   * each of these looks.
   */
  async function pass(hours: number): Promise<void> {
    for (let hour = 0; hour < hours; hour++) {
      jest.advanceTimersByTime(HOUR);
      await Promise.resolve();
    }
  }

  /** The local times of the runs within some hours. */
  async function runsWithin(hours: number): Promise<string[]> {
    const times: string[] = [];
    runUnlessActive.mockImplementation(async () => {
      times.push(new Date().toTimeString().slice(0, 5));
      return NONE;
    });
    await pass(hours);
    return times;
  }

  it('runs daily by default', async () => {
    start({});
    expect(await runsWithin(48)).toEqual(['03:23', '03:23']);
  });

  it('runs at the times of the configured expression', async () => {
    start({ retention: { schedule: '5 */6 * * *' } });
    expect(await runsWithin(24)).toEqual(['12:05', '18:05', '00:05', '06:05']);
  });

  it.each<[string, AuthModuleOptions, object | undefined]>([
    ['with retention.schedule false', { retention: { schedule: false } }, {}],
    ['in a service that only verifies', { verifyOnly: true }, {}],
    ['in an application without an HTTP server, such as a console', {}, undefined],
  ])('does not exist %s', (_, options, httpAdapter) => {
    start(options, httpAdapter ?? (null as unknown as object));
    expect(jest.getTimerCount()).toBe(0);
  });

  it('exists in a host with routes of its own', async () => {
    start({ routes: false, retention: { schedule: '0 13 * * *' } });
    expect(await runsWithin(3)).toEqual(['13:00']);
  });

  it('of the environment is ignored in a service that only verifies, which says so', async () => {
    const lines = jest.spyOn(Logger.prototype, 'log').mockImplementation(() => undefined);
    process.env.SVC_PRUNE_SCHEDULE = '0 13 * * *';
    start({ verifyOnly: true, ...authOptionsFromEnv() });
    expect(jest.getTimerCount()).toBe(0);
    expect(lines.mock.calls).toEqual([
      [expect.stringMatching(/^SVC_PRUNE_SCHEDULE is ignored, because verifyOnly is true/)],
    ]);
    start(authOptionsFromEnv());
    expect(await runsWithin(3)).toEqual(['13:00']);
    expect(lines).toHaveBeenCalledTimes(1);
  });

  it.each(['0 13 * * *', 'false'])('of the options replaces "%s" of the environment', async (text) => {
    process.env.SVC_PRUNE_SCHEDULE = text;
    start({ routes: false, ...authOptionsFromEnv(), retention: { schedule: '0 14 * * *' } });
    expect(await runsWithin(3)).toEqual(['14:00']);
  });

  it('that is not set is not reported', () => {
    const lines = jest.spyOn(Logger.prototype, 'log').mockImplementation(() => undefined);
    for (const text of [undefined, '', 'false', '0']) {
      if (text !== undefined) process.env.SVC_PRUNE_SCHEDULE = text;
      start({ verifyOnly: true, ...authOptionsFromEnv() });
    }
    expect(lines).not.toHaveBeenCalled();
  });

  it.each(['daily', '61 3 * * *', '23 3 * *', '2020-01-01T00:00:00'])('refuses the schedule %j', (text) => {
    expect(() => start({ retention: { schedule: text } })).toThrow(
      new RegExp(`^retention\\.schedule \\(SVC_PRUNE_SCHEDULE\\) is "${text.replaceAll('*', '\\*')}".*Use one such as`),
    );
  });

  it('ends with the application', async () => {
    const running = start({});
    running.onModuleDestroy();
    expect(jest.getTimerCount()).toBe(0);
    expect(await runsWithin(48)).toEqual([]);
  });

  it('does not keep the process alive', () => {
    jest.useRealTimers();
    const timers = jest.spyOn(globalThis, 'setTimeout');
    start({});
    const started = timers.mock.results.map(({ value }) => value as NodeJS.Timeout);
    expect(started.map((timer) => timer.hasRef())).toEqual([false]);
  });

  it('continues after a run that fails, and logs the error', async () => {
    const errors = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    start(HALF_PAST);
    runUnlessActive.mockRejectedValue(new Error('no database'));
    await pass(1);
    expect(errors.mock.calls).toEqual([['the sweep failed: no database', expect.any(String)]]);
    expect(await runsWithin(1)).toEqual(['13:30']);
  });

  it('writes only debug lines when another process is pruning, and when the application closes during a run', async () => {
    const errors = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const lines = jest.spyOn(Logger.prototype, 'debug').mockImplementation(() => undefined);
    const running = start(HALF_PAST);
    runUnlessActive.mockResolvedValueOnce(null);
    await pass(1);
    let fail: (error: Error) => void = () => undefined;
    runUnlessActive.mockImplementationOnce(() => new Promise((_, reject) => (fail = reject)));
    await pass(1);
    running.onModuleDestroy();
    fail(new Error('the pool is closed'));
    await jest.advanceTimersByTimeAsync(1);
    expect(lines.mock.calls).toEqual([
      ['another process is pruning'],
      ['the sweep ended at the shutdown: the pool is closed'],
    ]);
    expect(errors).not.toHaveBeenCalled();
  });
});
