import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packed } from '../support/packages/example-process';
import { ROOT, manifestOf, run } from '../support/packages/package';
import { complaintsOfNpm, sourcesOfDeclarations } from './installed';

const CLIENT = join(ROOT, 'libs/auth-client');
/** For pages without a bundler, which have no types. */
const MINIFIED = ['auth-account', 'auth-bound', 'auth-client', 'auth-identities'].map((name) => `${name}.min.js`);

/** Uses the types of the package with the DOM, and checks them too. */
const PAGE = `
import {
  type AuthClient, AuthError, type EnrolmentChallenge, type LoginChallenge, type TokenStorage, createAuthClient,
} from '@svc/auth-client';
import { type AccountClient, createAccountClient } from '@svc/auth-client/account';
import { type HostKey, boundKey } from '@svc/auth-client/bound';
import { type Finished, type IdentityAnswer, finishSignIn, registerWith, signInWith } from '@svc/auth-client/identities';
const auth: AuthClient = createAuthClient({ refreshToken: 'cookie', confirm: async () => false });
const account: AccountClient = createAccountClient(auth);
const challenge: LoginChallenge | EnrolmentChallenge | null = await auth.login({ email: 'a', password: 'b' });
if (challenge?.two_factor) await auth.answerChallenge(challenge, { code: '123456', trust_device: true });
else if (challenge) await account.completeEnrolment(challenge, '123456');
const answer: IdentityAnswer = await signInWith(auth, 'google', { popup: true, remember: true });
if (answer?.two_factor) await auth.answerChallenge(answer, { code: '123456' });
else if (answer?.enrolment_required) await account.completeEnrolment(answer, '123456');
else if (answer?.status === 'registration-required') await registerWith(auth, answer, { name: answer.name ?? 'Ada' });
const finished: Finished | null = await finishSignIn(auth);
if (finished?.way === 'link') console.log(finished.answer.email, finished.provider);
auth.on('signedOut', ({ reason }) => { const one: 'logout' | 'deleted' | 'ended' | 'key_lost' = reason; return one; });
const { data } = await auth.request<{ data: string[] }>('GET', '/orders').catch((error: unknown) => {
  throw error instanceof AuthError ? error.errors : error;
});
console.log(data.length);
const items = new Map<string, string>();
const storage: TokenStorage = {
  getItem: async (name) => items.get(name) ?? null,
  setItem: async (name, value) => void items.set(name, value),
  removeItem: async (name) => items.delete(name),
};
createAuthClient({ refreshToken: storage });
createAuthClient({ refreshToken: localStorage });
const key: HostKey = { jwk: { kty: 'EC' }, sign: async ({ buffer }) => buffer, sha256: async ({ buffer }) => buffer };
createAuthClient({ bound: boundKey(key) });
createAuthClient({ bound: boundKey() });
// @ts-expect-error there is no such place
createAuthClient({ refreshToken: 'sessionStorage' });
`;

describe('the package of the browser client', () => {
  let folder: string;
  let tarball: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-client-'));
    tarball = packed(CLIENT);
    const installed = join(folder, 'node_modules/@svc/auth-client');
    mkdirSync(installed, { recursive: true });
    run('tar', ['-xzf', tarball, '--strip-components=1', '-C', installed], folder);
  });

  it('contains sources, modules, types, the minified modules, its manifest, license and README, and no dependency but optional peers', () => {
    const modules = [
      'account',
      'base64url',
      'bound',
      'client',
      'clock',
      'errors',
      'fetch',
      'http',
      'identities',
      'index',
      'passkeys',
      'react',
      'session',
      'state',
      'storage',
      'types',
      'vue',
    ];
    const expected = [
      ...modules.flatMap((name) => [
        ...['.js', '.d.ts', '.d.ts.map'].map((end) => `dist/${name}${end}`),
        `src/${name}.ts`,
      ]),
      ...MINIFIED.map((name) => `dist/${name}`),
      'package.json',
      'LICENSE',
      'README.md',
    ].map((file) => `package/${file}`);
    expect(run('tar', ['-tzf', tarball], folder).trim().split('\n').toSorted()).toEqual(expected.toSorted());
    const { peerDependencies, peerDependenciesMeta } = manifestOf(CLIENT);
    expect(Object.keys(manifestOf(CLIENT)).filter((name) => name.endsWith('ependencies'))).toEqual([
      'peerDependencies',
    ]);
    const optional = Object.keys(peerDependencies!).map((name) => [name, { optional: true }]);
    expect(peerDependenciesMeta).toEqual(Object.fromEntries(optional));
  });

  it('has declarations that lead to their sources', () => {
    const declarations = Object.entries(sourcesOfDeclarations(join(folder, 'node_modules/@svc/auth-client')));
    expect(declarations).toContainEqual(['dist/index.d.ts', 'src/index.ts']);
    expect(declarations.filter(([, source]) => source === null)).toEqual([]);
  });

  it('is published without a complaint of npm, for everyone', () => {
    expect(complaintsOfNpm(tarball)).toEqual([]);
    expect(manifestOf(CLIENT).publishConfig).toEqual({ access: 'public' });
  });

  it('resolves with types', () => {
    const attw = join(ROOT, 'node_modules/@arethetypeswrong/cli/dist/index.js');
    const flags = ['--profile', 'esm-only', '--exclude-entrypoints', ...MINIFIED];
    run(process.execPath, [attw, tarball, ...flags], ROOT);
    const publint = join(ROOT, 'node_modules/publint/src/cli.js');
    expect(run(process.execPath, [publint, 'run', tarball, '--strict'], ROOT)).toContain('All good!');
  });

  it.each(['bundler', 'nodenext'])('has types that compile with the resolution of %s', (moduleResolution) => {
    writeFileSync(join(folder, 'page.mts'), PAGE);
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const module = moduleResolution === 'bundler' ? 'esnext' : 'nodenext';
    const flags = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2022,dom'];
    run(
      process.execPath,
      [tsc, 'page.mts', '--module', module, '--moduleResolution', moduleResolution, ...flags],
      folder,
    );
  });

  it.each([
    [
      'an ES module',
      ['--input-type=module', '-e', `import { createAuthClient } from '@svc/auth-client'; createAuthClient`],
    ],
    ['a CommonJS module, where Node has require(esm)', ['-e', `require('@svc/auth-client').createAuthClient.name`]],
    ['the minified module', ['--input-type=module', '-e', `import '@svc/auth-client/auth-client.min.js'`]],
    ['the module of the account', ['--input-type=module', '-e', `import '@svc/auth-client/account'`]],
    ['its minified module', ['--input-type=module', '-e', `import '@svc/auth-client/auth-account.min.js'`]],
    ['the module of the key', ['--input-type=module', '-e', `import '@svc/auth-client/bound'`]],
    ['its minified module', ['--input-type=module', '-e', `import '@svc/auth-client/auth-bound.min.js'`]],
    ['the module of the identities', ['--input-type=module', '-e', `import '@svc/auth-client/identities'`]],
    ['its minified module', ['--input-type=module', '-e', `import '@svc/auth-client/auth-identities.min.js'`]],
  ])('is loaded without a browser by %s', (_, args) => {
    run(process.execPath, args, folder);
  });
});
