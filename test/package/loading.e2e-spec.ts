import { join } from 'node:path';
import { ROOT, run } from '../support/package';

const REGISTER = join(ROOT, 'test/support/register-ts.cjs');

/** What takes memory and time to load, and what it is for. */
const LATE = {
  transliteration: 'identifiers that are not ASCII',
  tldts: 'passkeys',
  '@simplewebauthn/server': 'passkeys',
  otplib: 'two-factor authentication',
  nodemailer: 'mail',
  '@zxcvbn-ts/language-common': 'new passwords',
};

describe('the library, imported', () => {
  let loaded: string[];

  beforeAll(() => {
    const script = 'require("@svc/auth"); console.log(JSON.stringify(Object.keys(require.cache)))';
    loaded = JSON.parse(run(process.execPath, ['--require', REGISTER, '-e', script], ROOT));
  });

  it('is what was asked about', () => expect(loaded).toContain(join(ROOT, 'libs/auth/src/index.ts')));

  it.each(Object.entries(LATE))('has not loaded %s, which is for %s', (name) => {
    expect(loaded.filter((file) => file.includes(`/node_modules/${name}/`))).toEqual([]);
  });
});
