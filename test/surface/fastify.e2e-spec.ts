import type { Config } from 'jest';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/packages/package';

const { FOLDERS, MOST_TESTS, ON_EXPRESS, runsOnFastify } = require('../jest/fastify-files.cjs');
const CountingReporter = require('../jest/counting-reporter.cjs');

const ALL = ['libs/auth/src', 'test'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(e2e|alone)-spec\.ts$/.test(name))
    .map((name) => `${folder}/${name}`),
);
const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** The files of the configuration, or its patterns. */
function filesWith(which: string | undefined): string[] {
  if (which) process.env.TEST_FILES = which;
  else delete process.env.TEST_FILES;
  jest.resetModules();
  const { projects } = require('../jest/fastify.config.cjs') as { projects: Exclude<Config['projects'], undefined> };
  return projects.flatMap((project) => (project as { testMatch: string[] }).testMatch);
}

describe('npm run test:fastify', () => {
  const chosen = filesWith(undefined).map((path) => path.replace('<rootDir>/', ''));

  it('runs what an adapter can change: requests, cookies, bodies, errors, gates, mounting, upgrades and the log', () => {
    expect(chosen).toEqual(
      expect.arrayContaining([
        'test/attacks/bodies.e2e-spec.ts',
        'test/attacks/cookies.e2e-spec.ts',
        'test/attacks/fields.e2e-spec.ts',
        'test/gates/route-gates.e2e-spec.ts',
        'test/gates/websockets.e2e-spec.ts',
        'test/http/host.e2e-spec.ts',
        'test/observability/security-log.e2e-spec.ts',
        'test/openapi/answers.e2e-spec.ts',
        'test/sessions/cookie-mode.e2e-spec.ts',
        'test/health/security-store.alone-spec.ts',
      ]),
    );
  });

  it.each<string>(FOLDERS)('runs each file of %s, of which there are some', (folder) => {
    const inFolder = ALL.filter((file) => file.startsWith(`${folder}/`));
    expect(inFolder.length).toBeGreaterThan(0);
    expect(inFolder.filter((file) => !chosen.includes(file))).toEqual([]);
  });

  it('runs each file that distinguishes the adapters, sends bytes, or checks the attributes of a cookie, and no other', () => {
    const inFolders = (file: string): boolean => FOLDERS.some((folder: string) => file.startsWith(`${folder}/`));
    const depends = ALL.filter((file) =>
      /from '[^']*support\/(hosts\/adapter|clients\/raw-headers)'|HttpOnly|SameSite|Max-Age/.test(textOf(file)),
    );
    const expected = ALL.filter((file) => inFolders(file) || depends.includes(file));
    const others = (file: string): boolean => !ON_EXPRESS.some((start: string) => file.startsWith(start));
    expect(chosen.toSorted()).toEqual(expected.filter(others).toSorted());
    expect(ALL.length).toBeGreaterThan(2 * chosen.length);
    expect(runsOnFastify('test/two-factor/codes.e2e-spec.ts', '')).toBe(false);
  });

  it('runs every file with TEST_FILES=all', () => {
    expect(filesWith('all')).toEqual([
      '<rootDir>/{libs,test}/**/*.e2e-spec.ts',
      '<rootDir>/{libs,test}/**/*.alone-spec.ts',
    ]);
  });

  it('fails if it has more than 1,340 tests', () => {
    jest.spyOn(console, 'log').mockReturnValue();
    const errorOf = (passed: number): Error | undefined => {
      const reporter = new CountingReporter({}, { most: MOST_TESTS });
      reporter.onRunComplete(new Set(), {
        numPassedTests: passed,
        numFailedTests: 1,
        numPendingTests: 0,
        testResults: [],
      });
      return reporter.getLastError();
    };
    expect(errorOf(1339)).toBeUndefined();
    expect(errorOf(1340)?.message).toBe('This suite has 1341 tests, and may have 1340.');
  });
});
