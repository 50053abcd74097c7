import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const SRC = 'libs/auth/src';

const sources = readdirSync(join(ROOT, SRC), { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'),
);
const linesOf = (file: string): number => readFileSync(join(ROOT, SRC, file), 'utf8').split('\n').length;

/** Runs the layer check on a copy of the sources, with what `plant` adds to it. */
function check(plant: Record<string, string>): { status: number | null; output: string } {
  const copy = mkdtempSync(join(tmpdir(), 'svc-layers-'));
  cpSync(join(ROOT, SRC), join(copy, SRC), { recursive: true });
  for (const file of ['.dependency-cruiser.cjs', 'tsconfig.json', 'package.json'])
    cpSync(join(ROOT, file), join(copy, file));
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  for (const [file, text] of Object.entries(plant)) writeFileSync(join(copy, SRC, file), text);
  const bin = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const { status, stdout } = spawnSync(process.execPath, [bin, '--config', '.dependency-cruiser.cjs', SRC], {
    cwd: copy,
    encoding: 'utf8',
  });
  rmSync(copy, { recursive: true });
  return { status, output: stdout };
}

describe('the source tree', () => {
  it('has no file over 250 lines, but the documentation of the options', () => {
    expect(sources.filter((file) => linesOf(file) > 250 && file !== 'config/auth-options.ts')).toEqual([]);
  });

  it('has a median file under 50 lines', () => {
    const lengths = sources.map(linesOf).toSorted((a, b) => a - b);
    expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThan(50);
  });

  it('passes the check of its layers', () => {
    expect(check({})).toMatchObject({ status: 0 });
  });

  it.each([
    [
      'a lower folder that imports a higher one',
      'tokens-looks-down',
      { 'tokens/up.ts': "import { Sessions } from '../sessions/sessions';\nexport const up = Sessions;\n" },
    ],
    [
      'a folder that imports the module itself',
      'http-looks-down',
      { 'http/up.ts': "import { Auth } from '../auth';\nexport const up = Auth;\n" },
    ],
    [
      'a module that imports the testing kit',
      'testing-stays-out',
      { 'kit.ts': "import { MovableClock } from './testing';\nexport const kit = MovableClock;\n" },
    ],
    [
      'two files that import each other',
      'no-cycles',
      {
        'kernel/a.ts': "import { b } from './b';\nexport const a = () => b;\n",
        'kernel/b.ts': "import { a } from './a';\nexport const b = () => a;\n",
      },
    ],
    [
      'a policy that imports anything',
      'policies-are-pure',
      { 'sessions/bad.policy.ts': "import { sha256 } from '../kernel/secrets';\nexport const bad = sha256;\n" },
    ],
  ])('would not pass it with %s', (_, rule, plant) => {
    const { status, output } = check(plant as unknown as Record<string, string>);
    expect(status).not.toBe(0);
    expect(output).toContain(rule);
  });
});
