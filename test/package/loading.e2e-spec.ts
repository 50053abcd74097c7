import { join } from 'node:path';
import { ROOT, run } from '../support/packages/package';

const REGISTER = join(ROOT, 'test/support/runtime/register-ts.cjs');

/** Packages that take memory and time to load, each with its purpose. */
const LATE = {
  tldts: 'passkeys and wildcard origins',
  '@simplewebauthn/server': 'passkeys',
  otplib: 'two-factor authentication',
  nodemailer: 'mail',
  '@zxcvbn-ts/language-common': 'new passwords',
};

describe('the import of the library', () => {
  let loaded: string[];

  beforeAll(() => {
    const script = 'require("@svc/auth"); console.log(JSON.stringify(Object.keys(require.cache)))';
    loaded = JSON.parse(run(process.execPath, ['--require', REGISTER, '-e', script], ROOT));
  });

  it('loads its entry file', () => expect(loaded).toContain(join(ROOT, 'libs/auth/src/index.ts')));

  it('loads the texts of no language but the messages in English', () => {
    const [source, languages] = [join(ROOT, 'libs/auth/src/'), join(ROOT, 'libs/auth/src/foundation/languages/')];
    expect(loaded.filter((file) => file.startsWith(languages) && /[/\\][a-z]{2}\.ts$/.test(file))).toEqual([]);
    expect(loaded.filter((file) => file.startsWith(source) && file.endsWith('.languages.ts'))).toEqual([]);
    expect(loaded).toContain(join(languages, 'texts.ts'));
  });

  it.each(Object.entries(LATE))('does not load %s, which is for %s', (name) => {
    expect(loaded.filter((file) => file.includes(`/node_modules/${name}/`))).toEqual([]);
  });
});
