import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { packedHost } from '../attacks/support/packed-host';

describe('the testing kit in the package', () => {
  let folder: string;

  const run = (script: string, NODE_ENV: string) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', `require('reflect-metadata');${script}`], {
      cwd: folder,
      env: { PATH: process.env.PATH, NODE_ENV },
      encoding: 'utf8',
    });
    return { status, stdout: stdout.trim().split('\n'), stderr };
  };

  beforeAll(() => {
    folder = join(packedHost(), '../../../..');
  }, 300_000);

  describe('in a test', () => {
    let lines: string[];

    beforeAll(() => {
      const script = `
        const loaded = () => Object.keys(require.cache).filter((file) => file.includes('/dist/tools/testing/')).length;
        const { Clock } = require('@svc/auth');
        console.log(loaded());
        require('@svc/auth/console');
        console.log(loaded());
        const kit = require('@svc/auth/testing');
        console.log(new kit.MovableClock() instanceof Clock, Object.keys(kit).sort().join(), loaded() > 0);`;
      lines = run(script, 'test').stdout;
    });

    it.each([
      ['@svc/auth', 0],
      ['@svc/auth/console', 1],
    ])('is not loaded by %s', (_, line) => expect(lines[line]).toBe('0'));

    it('loads with the package, and shares its classes', () => {
      expect(lines[2]).toBe(
        'true EventRecorder,MailRecorder,MovableClock,SoftAuthenticator,actAs,linkIn,totpCode true',
      );
    });
  });

  it('does not load in production, where the package loads', () => {
    const script = `require('@svc/auth'); console.log('loaded'); require('@svc/auth/testing')`;
    const { status, stdout, stderr } = run(script, 'production');
    expect([status === 0, stdout]).toEqual([false, ['loaded']]);
    expect(stderr).toContain('@svc/auth/testing is for tests');
  });
});
