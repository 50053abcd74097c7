import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { AuthConsoleModule } from '@svc/auth/console';
import { Client } from 'pg';
import { createEmptyDatabase } from '../support/stores/database';
import { eventually } from '../support/runtime/eventually';
import { SECRET } from '../support/hosts/host.module';
import { sharedRedisUrl } from '../support/stores/with-redis';
import { runInProcess } from './in-process';
import { WorkingDirectory } from './working-directory';

// The other console tests run the commands in the process of the tests.
describe('a console command in its own process', () => {
  let place: WorkingDirectory;

  beforeEach(() => (place = new WorkingDirectory()));
  afterEach(() => place.remove());

  /** Runs a command that needs no application, in a console without one: the code of the sample takes most of a start. */
  function startAlone(args: string[], typed?: string): ReturnType<WorkingDirectory['start']> {
    place.write("void require('@svc/auth/console').AuthConsoleModule.run();", 'console.js');
    return place.startFile(place.path('console.js'), args, typed);
  }

  it('prints its result and exits with 0', async () => {
    expect(await startAlone(['svc:secret', '--show'])).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^[0-9a-f]{64}\n$/),
      stderr: '',
    });
  });

  it('asks for confirmation at a terminal', async () => {
    place.write('SVC_SECRET=the-old-secret\n');
    const { status, stdout, stderr } = await startAlone(['svc:secret'], 'y\n');
    expect([status, stdout]).toEqual([0, 'SVC_SECRET is set in .env.\n']);
    expect(stderr).toContain('Overwrite it? [y/N]');
    expect(parseEnv(place.read()).SVC_SECRET).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each<[string, string]>([
    ['never starts', 'new Promise(() => {})'],
    ['ends the process while it starts', 'process.exit(0)'],
  ])('exits with 1, and says why, for an application that %s', async (_, open) => {
    place.write(
      `const { AuthConsoleModule } = require('@svc/auth/console'); void AuthConsoleModule.run(async () => ${open});`,
      'console.js',
    );
    const { status, stdout, stderr } = await place.startFile(place.path('console.js'), ['svc:prune']);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toBe('The command did not end: the application ended the process, or its start never ends.\n');
  });

  it('prints its help with 0 for an application that never starts, or ends the process', async () => {
    for (const open of [() => new Promise<never>(() => undefined), async () => process.exit(3)]) {
      const main = () => AuthConsoleModule.run(open);
      expect(await runInProcess(main, ['svc:prune', '--help'])).toMatchObject({
        status: 0,
        stdout: expect.stringContaining('--lockout-days'),
      });
    }
  });

  it('prints the error of an application that does not start once, with the logger of docs/console.md, and exits with 1', async () => {
    const logger = /logger: (\[.*?\])/.exec(readFileSync('docs/console.md', 'utf8'))![1]!;
    const of = (name: string): string => JSON.stringify(require.resolve(name));
    place.write(
      `const { AuthConsoleModule } = require('@svc/auth/console');
       const { NestFactory } = require(${of('@nestjs/core')});
       const { AuthModule, UserProvider } = require('@svc/auth');
       const open = () => NestFactory.createApplicationContext(
         AuthModule.forRoot({ routes: false, secret: 'short', users: { provider: class extends UserProvider {} } }),
         { logger: ${logger}, abortOnError: false });
       void AuthConsoleModule.run(open);`,
      'console.js',
    );
    const { status, stdout, stderr } = await place.startFile(place.path('console.js'), ['svc:prune']);
    expect([status, stdout, stderr.split('\n').length]).toEqual([1, '', 2]);
    expect(stderr).toMatch(/^secret \(SVC_SECRET\) has 40 bits/);
  });

  it('exits after it has closed its database and Redis connections', async () => {
    const database = await createEmptyDatabase();
    place.write(`DATABASE_URL=${database.url}\nSVC_SECRET=${SECRET}\nREDIS_URL=${sharedRedisUrl() ?? ''}\n`);
    const { status, stdout, stderr } = await place.start(['svc:prune']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^sessions: 0\n/);
    // A command that fails closes them, too.
    expect(await place.run('svc:release', 'ada@example.com')).toMatchObject({ status: 1, stdout: '' });
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const connections =
      'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';
    await eventually(async () => (await client.query(connections)).rowCount === 0);
    await client.end();
    await database.drop();
  });
});
