import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { packedHost } from '../attacks/support/packed-host';

describe('the testing kit in the package', () => {
  let folder: string;

  const run = (script: string, variables: Record<string, string>) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', `require('reflect-metadata');${script}`], {
      cwd: folder,
      env: { PATH: process.env.PATH, ...variables },
      encoding: 'utf8',
    });
    return { status, stdout: stdout.trim().split('\n'), stderr };
  };

  beforeAll(() => {
    folder = join(packedHost(), '../../../..');
  });

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
      lines = run(script, { NODE_ENV: 'test' }).stdout;
    });

    it.each([
      ['@svc/auth', 0],
      ['@svc/auth/console', 1],
    ])('is not loaded by %s', (_, line) => expect(lines[line]).toBe('0'));

    it('loads with the package, and shares its classes', () => {
      expect(lines[2]).toBe(
        'true EventRecorder,MailRecorder,MovableClock,Outage,SoftAuthenticator,actAs,clientAddresses,enrolTwoFactor,linkIn,' +
          'outOfTheWay,totpCode,userProviderContract true',
      );
    });
  });

  it.each<[Record<string, string>]>([
    [{ NODE_ENV: 'test' }],
    [{ NODE_ENV: 'test', SVC_ALLOW_TESTING: 'off' }],
    [{ SVC_ALLOW_TESTING: '1' }],
    [{ NODE_ENV: 'development', SVC_ALLOW_TESTING: 'on' }],
  ])('loads with %p', (variables) => {
    const { status, stdout } = run(`require('@svc/auth/testing'); console.log('loaded')`, variables);
    expect([status, stdout]).toEqual([0, ['loaded']]);
  });

  it.each<[Record<string, string>]>([
    [{}],
    [{ NODE_ENV: '' }],
    [{ NODE_ENV: 'development' }],
    [{ NODE_ENV: 'staging' }],
    [{ SVC_ALLOW_TESTING: '' }],
    [{ SVC_ALLOW_TESTING: 'off' }],
    [{ NODE_ENV: 'development', SVC_ALLOW_TESTING: 'banana' }],
    [{ NODE_ENV: 'production' }],
    [{ NODE_ENV: 'production', SVC_ALLOW_TESTING: '1' }],
    [{ NODE_ENV: 'Production ', SVC_ALLOW_TESTING: '1' }],
    [{ NODE_ENV: 'prod', SVC_ALLOW_TESTING: '1' }],
  ])('does not load with %p, where the package loads', (variables) => {
    const script = `require('@svc/auth'); console.log('loaded'); require('@svc/auth/testing')`;
    const { status, stdout, stderr } = run(script, variables);
    expect([status === 0, stdout]).toEqual([false, ['loaded']]);
    expect(stderr).toContain('AuthConfigError');
    expect(stderr).toContain(
      '@svc/auth/testing is for tests: it loads with NODE_ENV=test, and outside production with',
    );
  });
});
