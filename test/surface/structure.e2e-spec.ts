import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fillOnce, fingerprint } from '../support/packages/package';

const ROOT = join(__dirname, '../..');
const SRC = 'libs/auth/src';

const all = readdirSync(join(ROOT, SRC), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const specs = all.filter((file) => file.endsWith('spec.ts'));
const sources = all.filter((file) => !file.endsWith('spec.ts'));
const linesOf = (file: string): number => readFileSync(join(ROOT, SRC, file), 'utf8').split('\n').length;

/** Files that break one rule each. The two files of a cycle break one rule together. */
const PLANTED: Record<string, { rule?: string; text: string }> = {
  'identity/tokens/up.ts': {
    rule: 'identity/tokens-looks-down',
    text: "import { Sessions } from '../../features/sessions/sessions';\nexport const up = Sessions;\n",
  },
  'request/http/up.ts': {
    rule: 'request/http-looks-down',
    text: "import { Auth } from '../../auth';\nexport const up = Auth;\n",
  },
  'foundation/config/type.ts': {
    rule: 'foundation/config-looks-down',
    text: "import type { Sessions } from '../../features/sessions/sessions';\nexport type Up = Sessions;\n",
  },
  'elsewhere/lost.ts': { rule: 'every-folder-has-a-place', text: "import '../auth';\n" },
  'planted.ts': {
    rule: 'testing-stays-out',
    text: "import { MovableClock } from './tools/testing';\nexport const planted = MovableClock;\n",
  },
  'features/notices/past-the-kit.ts': {
    rule: 'added-features-use-the-kit',
    text: "import { sha256 } from '../../foundation/platform/crypto';\nexport const past = sha256;\n",
  },
  'features/notices/guest.ts': {
    rule: 'added-features-use-the-kit',
    text: "import type { AccountExport } from '../account/account-data';\nexport type Guest = AccountExport;\n",
  },
  'kit/up.ts': {
    rule: 'the-kit-looks-down',
    text: "export { AccountExport } from '../features/account/account-data';\n",
  },
  'features/mail/with-kit.ts': {
    rule: 'features/mail-looks-down',
    text: "import { Clock } from '../../kit';\nexport const withKit = Clock;\n",
  },
  'foundation/platform/a.ts': {
    rule: 'no-cycles',
    text: "import type { B } from './b';\nexport type A = B | null;\n",
  },
  'foundation/platform/b.ts': { text: "import type { A } from './a';\nexport interface B { a: A }\n" },
  'features/sessions/bad.policy.ts': {
    rule: 'policies-are-pure',
    text: "import { sha256 } from '../../foundation/platform/crypto';\nexport const bad = sha256;\n",
  },
};

/** The findings of the layer check in a copy of the sources with these files, as `rule file`. Checked once for each state of the sources. */
function violations(): string[] {
  const settings = ['.dependency-cruiser.cjs', 'tsconfig.json', 'package-lock.json', relative(ROOT, __filename)];
  // The check reads unit tests, too.
  const files = [...settings, ...specs.map((file) => join(SRC, file))];
  const folder = fillOnce(`svc-layers-${fingerprint(...files)}`, (work) =>
    writeFileSync(join(work, 'findings.json'), JSON.stringify(cruise())),
  );
  return JSON.parse(readFileSync(join(folder, 'findings.json'), 'utf8')) as string[];
}

function cruise(): string[] {
  const copy = mkdtempSync(join(tmpdir(), 'svc-layers-'));
  cpSync(join(ROOT, SRC), join(copy, SRC), { recursive: true });
  for (const file of ['.dependency-cruiser.cjs', 'tsconfig.json', 'package.json'])
    cpSync(join(ROOT, file), join(copy, file));
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  for (const [file, { text }] of Object.entries(PLANTED)) {
    mkdirSync(join(copy, SRC, dirname(file)), { recursive: true });
    writeFileSync(join(copy, SRC, file), text);
  }
  const bin = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const command = [bin, '--config', '.dependency-cruiser.cjs', '--output-type', 'json', SRC];
  const { stdout } = spawnSync(process.execPath, command, { cwd: copy, encoding: 'utf8', maxBuffer: 1e8 });
  rmSync(copy, { recursive: true });
  const { summary } = JSON.parse(stdout) as { summary: { violations: { from: string; rule: { name: string } }[] } };
  return summary.violations.map(({ from, rule }) => `${rule.name} ${from.slice(SRC.length + 1)}`).toSorted();
}

describe('the source tree', () => {
  it('has no file over 400 lines, except the documentation of the options', () => {
    expect(sources.filter((file) => linesOf(file) > 400 && file !== 'foundation/config/auth-options.ts')).toEqual([]);
  });

  it('passes the layer check, which finds every file that breaks a rule', () => {
    expect(violations()).toEqual(
      Object.entries(PLANTED)
        .filter(([, { rule }]) => rule)
        .map(([file, { rule }]) => `${rule} ${file}`)
        .toSorted(),
    );
  });

  it('uses class-transformer for decorators, and on no body but that of a registration with a class of the host', () => {
    const imports = sources.flatMap((file) =>
      [...readFileSync(join(ROOT, SRC, file), 'utf8').matchAll(/^.*class-transformer['/].*$/gm)].map(
        ([line]) => [file, line] as const,
      ),
    );
    expect(imports.length).toBeGreaterThan(3);
    const decorators = /^import \{ (?:Exclude|Expose) \} from 'class-transformer';$/;
    expect(imports.filter(([, line]) => !decorators.test(line)).map(([file]) => file)).toEqual([
      'features/registration/registration-class.ts',
    ]);
  });

  it('reads the wall time from the clock only, and uses it for stored times and claims, never for elapsed time', () => {
    const linesWith = (pattern: RegExp): string[] =>
      sources.flatMap((file) =>
        readFileSync(join(ROOT, SRC, file), 'utf8')
          .split('\n')
          .filter((line) => pattern.test(line))
          .map((line) => `${file}: ${line.trim()}`),
      );
    const ofMachine = linesWith(/\bDate\.now\b|new Date\(\)/).filter((line) => !line.includes('`new Date()`'));
    expect(
      ofMachine.filter(
        (line) =>
          // The library of the protocol reads the wall time itself, and gets the difference to the clock.
          !/^(foundation\/platform\/clock|tools\/testing\/(movable-clock|user-provider-account-checks)|features\/identities\/protocol\/provider-step)\.ts:/.test(
            line,
          ),
      ),
    ).toEqual([]);
    const inMilliseconds = linesWith(/[cC]lock\.now\(/);
    expect(inMilliseconds.length).toBeGreaterThan(0);
    // The doctor compares the wall time with those of the stores. The time at which a sign-in at a provider began is stored, and
    // compared by other processes.
    const others = inMilliseconds.filter(
      (line) => !/^(tools\/cli\/store-checks\.ts|features\/identities\/)/.test(line),
    );
    expect(others.filter((line) => !/new Date\(this\.clock\.now\(\)\)/.test(line))).toEqual([]);
  });

  it('sends mails at one place, so that every mail passes the limits of its recipient', () => {
    const sending = sources.filter((file) => /mailer!?\??\.send\(/.test(readFileSync(join(ROOT, SRC, file), 'utf8')));
    expect(sending).toEqual(['features/mail/mail-queue.ts']);
  });

  it('is imported by tests through its public entry points only, except by specs beside it', () => {
    const tests = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !file.includes('node_modules'),
    );
    const internal = /(?:from |import\(|require\()'[./]*libs\/auth\/src/;
    expect(tests.length).toBeGreaterThan(100);
    // What the library detaches from a request, and the data source that it makes on a pool, are no providers for hosts.
    const exceptions = ['support/faults/store-timeouts.ts', 'support/hosts/host.module.ts'];
    expect(tests.filter((file) => internal.test(readFileSync(join(ROOT, 'test', file), 'utf8')))).toEqual(exceptions);
  });

  it('holds no test that writes a constant over the end of a token, which can be the end that it had', () => {
    const tests = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    );
    const byChance = /slice\(0, -\d+\)\}A+`/;
    expect(byChance.test(['`${token.slice(0, -2)}', 'AA`'].join(''))).toBe(true);
    expect(tests.filter((file) => byChance.test(readFileSync(join(ROOT, 'test', file), 'utf8')))).toEqual([]);
  });
});
