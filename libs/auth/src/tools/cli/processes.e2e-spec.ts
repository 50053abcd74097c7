import { spawn } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { WorkingDirectory } from '../../../../../test/console/working-directory';
import { SECRET } from '../../../../../test/support/hosts/host.module';

const LOADER = join(__dirname, '../../../../../test/support/runtime/register-ts.cjs');

interface Result {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

// The other tests run the commands in the process of the tests.
describe('svc-auth in its own process, by the link that npm makes', () => {
  let place: WorkingDirectory;

  beforeEach(() => {
    place = new WorkingDirectory();
    // Thirty seconds are less than one here.
    place.write(
      `#!/usr/bin/env node
       const timers = require('node:timers/promises');
       const { setTimeout } = timers;
       timers.setTimeout = (ms, ...others) => setTimeout(ms / 50, ...others);
       require(${JSON.stringify(LOADER)});
       require(${JSON.stringify(join(__dirname, 'main.ts'))});`,
      'svc-auth',
    );
    chmodSync(place.path('svc-auth'), 0o755);
  });
  afterEach(() => place.remove());

  function start(args: readonly string[], env: Record<string, string> = {}) {
    // The system reads the first line of the file, as for npx: Node sees the options of the command, too.
    return spawn(place.path('svc-auth'), args, { cwd: place.directory, env: { ...process.env, ...env } });
  }

  async function run(args: readonly string[], env?: Record<string, string>): Promise<Result> {
    const child = start(args, env);
    const [stdout, stderr, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    return { status, stdout, stderr };
  }

  it('reads the env file of --env, which is no option of Node', async () => {
    place.write('', '.env.local');
    const { status, stdout, stderr } = await run(['secret', '--env', '.env.local']);
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'SVC_SECRET is set in .env.local.\n', stderr: '' });
    expect(await run(['secret', '--env', 'none'])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('There is no env file none'),
    });
  });

  const nest = (providers: string): string =>
    `const { Module } = require(${JSON.stringify(require.resolve('@nestjs/common'))});
     class AppModule {}
     Module({ providers: [${providers}] })(AppModule);
     exports.AppModule = AppModule;`;

  const never = 'new Promise(() => {})';

  it.each<[string, string, RegExp]>([
    ['exports a function that never ends', `exports.default = () => ${never};`, /exported function did not end within/],
    [
      'has a provider that is never initialized',
      nest(`{ provide: 'slow', useValue: { onModuleInit: () => ${never} } }`),
      /did not start within 30 seconds/,
    ],
    [
      'ends the process while it starts',
      nest(`{ provide: 'over', useFactory: () => process.exit(0) }`),
      /ended the process before the checks were over/,
    ],
    ['ends the process while it is loaded', 'process.exit(0);', /ended the process before the checks were over/],
    [
      'crashes by a promise',
      nest(
        `{ provide: 'a', useFactory: () => { Promise.reject(new Error('no: ' + process.env.API_TOKEN)); return ${never}; } }`,
      ),
      /An error that nothing handles ends the application: no: \*\*\*/,
    ],
    [
      'crashes in an event',
      nest(
        `{ provide: 'a', useFactory: () => { setTimeout(() => { throw new Error('no: ' + process.env.API_TOKEN); }); return ${never}; } }`,
      ),
      /An error that nothing handles ends the application: no: \*\*\*/,
    ],
    [
      'crashes after its start',
      nest(
        `{ provide: 'a', useValue: { onApplicationBootstrap: () => { Promise.reject(new Error('no: ' + process.env.API_TOKEN)); } } }`,
      ),
      /An error that nothing handles ends the application: no: \*\*\*/,
    ],
  ])('doctor exits with 2, and a finding in its result, for a host that %s', async (_, code, message) => {
    place.write(code, 'app.module.js');
    const { status, stdout, stderr } = await run(['doctor', 'app.module.js', '--json'], {
      API_TOKEN: 'a-secret-token',
    });
    const { checks } = JSON.parse(stdout) as { checks: { check: string; status: string; message: string }[] };
    expect({ status, stderr }).toEqual({ status: 2, stderr: '' });
    expect(checks).toContainEqual(
      expect.objectContaining({ check: 'start', status: 'error', message: expect.stringMatching(message) }),
    );
    expect(stdout).not.toContain('a-secret-token');
  });

  it('keeps its exit code if the reader closes its output', async () => {
    place.write(`exports.default = { secret: '${SECRET}', users: {}, accessTtl: 0 };`, 'options.js');
    const child = start(['doctor', 'options.js']);
    child.stdout.destroy();
    const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect({ status, stderr }).toEqual({ status: 2, stderr: '' });
  });
});
