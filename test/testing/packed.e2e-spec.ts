import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { packedHost } from '../attacks/support/packed';

describe('the testing kit in the package', () => {
  let folder: string;

  const run = (script: string, NODE_ENV?: string) => {
    const env = { PATH: process.env.PATH, ...(NODE_ENV && { NODE_ENV }) };
    const options = { cwd: folder, env, encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['-e', `require('reflect-metadata');${script}`],
      options,
    );
    return { status, stdout: stdout.trim(), stderr };
  };

  beforeAll(() => {
    folder = join(packedHost(), '../../../..');
  }, 300_000);

  it('loads beside the package, and is one with it', () => {
    const script = `
      const { Clock } = require('@svc/auth');
      const kit = require('@svc/auth/testing');
      console.log(new kit.MovableClock() instanceof Clock, Object.keys(kit).sort().join());`;
    expect(run(script, 'test').stdout).toBe(
      'true EventRecorder,MailRecorder,MovableClock,SoftAuthenticator,actAs,linkIn,totpCode',
    );
  });

  it('does not load in production', () => {
    const { status, stderr } = run("require('@svc/auth/testing')", 'production');
    expect(status).not.toBe(0);
    expect(stderr).toContain('@svc/auth/testing is for tests');
    expect(run("require('@svc/auth')", 'production').status).toBe(0);
  });

  it.each(['@svc/auth', '@svc/auth/console'])('is nothing that %s loads', (entry) => {
    const script = `require('${entry}'); console.log(Object.keys(require.cache).filter((f) => f.includes('/dist/testing/')).length)`;
    expect(run(script).stdout).toBe('0');
  });
});
