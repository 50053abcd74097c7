import { type AuthModuleOptions, Pruning } from '@svc/auth';
import { AuthConsoleModule } from '@svc/auth/console';
import { CommandFactory } from 'nest-commander';
import { runInProcess } from '../console/in-process';
import { TestApp } from '../support/hosts/app';
import { storePasskey } from '../support/flows/passkeys';
import { PausePoint, whilePaused } from '../support/faults/pause-point';
import { userProvidersOf } from '../support/stores/user-reads';

const NONE = {
  sessions: 0,
  lockoutCounters: 0,
  passkeys: 0,
  resetTokens: 0,
  emailChanges: 0,
  knownDevices: 0,
  deviceKeys: 0,
  trustedDevices: 0,
  emailDeliveries: 0,
  identities: 0,
  accessKeys: 0,
  audit: 0,
  suspensions: 0,
  securityEvents: 0,
};

describe('a run of the pruning', () => {
  const t = TestApp.forFile();
  const sharing = (options: Partial<AuthModuleOptions> = {}, pool = {}) =>
    TestApp.forFile(() => ({ databaseUrl: t.databaseUrl, options, pool }));
  const other = sharing();
  const single = sharing({}, { max: 1 });
  const withOtherGuards = sharing({ guard: 'web' });
  const run = (node: TestApp) => node.app.get(Pruning).runUnlessActive();

  /** A run that waits in its last stage, after it has deleted the other rows. */
  async function whileRunning(meanwhile: () => Promise<unknown>) {
    await storePasskey(t, 'stale', '99');
    const pausePoint = new PausePoint();
    for (const provider of userProvidersOf(t))
      jest.spyOn(provider, 'existingIds').mockImplementation(async () => {
        await pausePoint.pass();
        return new Set();
      });
    return whilePaused(pausePoint, run(t), meanwhile);
  }

  /** Connections that hold an advisory lock. */
  const holders = (): Promise<{ pid: number; state: string; xmin: string | null; xid: string | null }[]> =>
    t.database.query(
      `SELECT pid, state, backend_xmin AS xmin, backend_xid AS xid FROM pg_stat_activity
        WHERE datname = current_database()
          AND pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted)`,
    );

  it('has a lock, so that another node deletes nothing meanwhile, and can run afterwards', async () => {
    const pruned = await whileRunning(async () => {
      await storePasskey(t, 'late', '99', 'admin');
      expect(await run(other)).toBeNull();
      expect(await t.database.query('SELECT 1 FROM svc_passkeys')).toHaveLength(2);
    });
    expect(pruned).toMatchObject({ passkeys: expect.any(Number) });
    expect(await run(other)).not.toBeNull();
  });

  it('has it in a transaction that holds back no vacuum, and on a connection of its own', async () => {
    await whileRunning(async () => {
      expect(await holders()).toEqual([
        { pid: expect.any(Number), state: 'idle in transaction', xmin: null, xid: null },
      ]);
    });
    expect(await holders()).toEqual([]);
    // The sweep needs a connection of the pool besides.
    expect(await run(single)).toEqual(NONE);
  });

  it('loses it with its connection, and continues', async () => {
    const pruned = await whileRunning(async () => {
      const [holder] = await holders();
      await t.database.query('SELECT pg_terminate_backend($1)', [holder!.pid]);
      expect(await run(other)).not.toBeNull();
    });
    expect(pruned).not.toBeNull();
  });

  it('does not stop the run of an application with other guards, which has other rows', async () => {
    await whileRunning(async () => expect(await run(withOtherGuards)).toEqual(NONE));
  });

  it('does not stop a run without a lock, by Pruning.run()', async () => {
    await whileRunning(async () => expect(await other.app.get(Pruning).run()).toMatchObject({ passkeys: 1 }));
  });

  it('makes svc:prune report it and delete nothing; afterwards the command runs', async () => {
    const application = { get: other.app.get.bind(other.app), close: async () => undefined };
    const module = AuthConsoleModule.forApplication(async () => application);
    const prune = () => runInProcess(() => CommandFactory.run(module, ['error']), ['svc:prune']);
    await whileRunning(async () =>
      expect(await prune()).toEqual({
        status: 0,
        stdout: 'Another process is pruning these tables.\n',
        stderr: '',
      }),
    );
    expect(await prune()).toMatchObject({ status: 0, stdout: expect.stringMatching(/^sessions: 0\n/) });
  });

  it('fails with 503 if the lock cannot be asked for, and deletes nothing', async () => {
    const { driver } = t.database as unknown as { driver: { master: { options: object } } };
    const before = driver.master.options;
    driver.master.options = { host: '127.0.0.1', port: 1 };
    try {
      await expect(run(t)).rejects.toMatchObject({ status: 503 });
    } finally {
      driver.master.options = before;
    }
    expect(await run(t)).toEqual(NONE);
  });
});
