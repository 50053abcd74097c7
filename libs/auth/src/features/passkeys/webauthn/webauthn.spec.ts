import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { loadWebauthn, webauthnOnDemand } from './library';

const REGISTER = join(__dirname, '../../../../../../test/support/runtime/register-ts.cjs');

describe('the library that verifies passkeys', () => {
  it('is loaded at the first verification, and not by the check whether it is installed', () => {
    const script = `
      const loaded = () => Object.keys(require.cache).some((file) => file.includes('/node_modules/@simplewebauthn/server/'));
      const load = require(${JSON.stringify(join(__dirname, 'library.ts'))}).webauthnOnDemand();
      const before = loaded();
      load();
      console.log(JSON.stringify([before, loaded(), load() === load()]));`;
    // In a separate process, because other tests have loaded the library in this one.
    const { stdout } = spawnSync(process.execPath, ['--require', REGISTER, '-e', script], { encoding: 'utf8' });
    expect(JSON.parse(stdout)).toEqual([false, true, true]);
  });

  it('is named in the error, with the command that installs it, when it is missing', () => {
    const message =
      'features.passkeys needs the package @simplewebauthn/server. Run: npm install @simplewebauthn/server';
    expect(() => webauthnOnDemand(() => false)).toThrow(message);
    expect(() => loadWebauthn(() => undefined)).toThrow(message);
  });
});
