import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as surface from '@svc/auth';
import { openApiFile } from '../../docs/generate-openapi';
import { optionsPage } from '../../docs/generate-options';
import { VARIABLES } from '../../libs/auth/src/config/env';
import { METRICS } from '../../libs/auth/src/observability/metrics';
import { OPERATIONS, QUIET } from '../../libs/auth/src/observability/operations';
import { REASONS } from '../../libs/auth/src/observability/reasons';
import { HAPPENINGS } from '../../libs/auth/src/observability/security-line';

const ROOT = join(__dirname, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** Pages that say what tests prove. */
const CLAIMS = ['SECURITY.md', 'docs/standards.md'];

/** Points that are met by what is not there. */
const NO_CODE = new Set(['6.5.7']);

const pathsIn = (page: string): string[] =>
  [...page.matchAll(/`((?:test|libs|docs|apps)\/[\w/.-]+)`/g)].map(([, path]) => path!);

/** What a path stands for: itself, or a test that is named without its ending. */
const filesAt = (path: string): string[] =>
  /\.(ts|md)$/.test(path) ? [path] : path.startsWith('test/') ? [`${path}.e2e-spec.ts`] : [`${path}.spec.ts`];

/** The rows of every table of a page, cell by cell, without their heads. */
const rowsOf = (page: string): string[][] =>
  page
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\| (#|§|-)/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

describe('the documentation', () => {
  it('lists the options as the source documents them: npm run docs', () => {
    expect(read('docs/options.md')).toBe(optionsPage());
  });

  it('names every environment variable that is read', () => {
    const page = read('docs/options.md');
    for (const [name] of VARIABLES) expect(page).toContain(`\`SVC_${name}\``);
    expect(page).toContain('`SVC_PUBLIC_KEY`');
  });

  it('lists every event', () => {
    const events = readdirSync(join(ROOT, 'libs/auth/src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.event.ts'),
    );
    const names = events.map((file) => /export class (\w+)/.exec(read(join('libs/auth/src', file)))![1]!);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) {
      expect(read('docs/events.md')).toMatch(new RegExp(`\\| \`${name}\`\\s+\\|`));
      expect(surface).toHaveProperty(name);
    }
  });

  it('gives every reason, event, operation and metric that operators meet, as the source has them', () => {
    const page = read('docs/operations.md').replaceAll(/ +/g, ' ');
    for (const [reason, meaning] of Object.entries(REASONS)) expect(page).toContain(`| \`${reason}\` | ${meaning} |`);
    for (const [name, event] of Object.entries(HAPPENINGS)) expect(page).toContain(`| \`${name}\` | \`${event}\` |`);
    for (const operation of Object.values(OPERATIONS)) {
      expect(page).toMatch(new RegExp(`\\| \`${operation}\` \\| .* \\| ${QUIET.has(operation) ? 'no' : 'yes'} \\|`));
    }
    for (const [name, { kind, unit, description }] of Object.entries(METRICS)) {
      expect(page).toContain(`| \`${name}\` | ${kind}, \`${unit}\` |`);
      expect(page).toContain(description);
    }
  });

  it.each(CLAIMS)('%s names tests and files that exist', (page) => {
    const named = pathsIn(read(page));
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((path) => !filesAt(path).some((file) => existsSync(join(ROOT, file))))).toEqual([]);
  });

  it.each(CLAIMS)('%s names options that exist', (page) => {
    const options = read('docs/options.md');
    const named = [...read(page).matchAll(/`([a-z]\w+\.\w+)(?:: \w+)?`/gi)].map(([, name]) => name!);
    const known = named.filter((name) => options.includes(`| \`${name.split('.')[0]}\` |`));
    expect(known.length).toBeGreaterThan(5);
    expect(known.filter((name) => !options.includes(`| \`${name}\` |`))).toEqual([]);
  });

  it('says of every point of a standard how it is met, and where', () => {
    const points = rowsOf(read('docs/standards.md')).filter(([number]) => /\d|—/.test(number!));
    expect(points.length).toBeGreaterThan(100);
    for (const cells of points) {
      const [status, where] = cells.slice(-2);
      expect([cells[0], status]).toEqual([cells[0], expect.stringMatching(/^(met|partly|not met|host's|n\/a)$/)]);
      // Nothing is held to be so without a place to look at; what is no matter of code says why.
      if (status === 'met' && !NO_CODE.has(cells[0]!)) expect(where).toMatch(/`(test|libs)\/|\]\(/);
    }
  });

  // Lines of code as they run somewhere, wherever their lines begin.
  it.each([
    ['docs/testing.md', 'test/testing/host.e2e-spec.ts'],
    ['docs/openapi.md', 'apps/sample/src/api-document.ts'],
  ])('shows in %s what is run in %s', (page, source) => {
    const plain = (text: string): string => text.replaceAll(/^ +/gm, '');
    const blocks = [...read(page).matchAll(/```ts\n(.*?)```/gs)].map(([, block]) => block!);
    expect(blocks.length).toBeGreaterThan(0);
    for (const block of blocks) expect(plain(read(source))).toContain(plain(block));
  });

  it('has the OpenAPI document that the source makes: npm run docs', async () => {
    expect(read('docs/openapi.json')).toBe(await openApiFile());
  });

  it('links to pages that exist', () => {
    for (const page of [
      'README.md',
      'SECURITY.md',
      ...readdirSync(join(ROOT, 'docs'))
        .filter((f) => f.endsWith('.md'))
        .map((f) => `docs/${f}`),
    ]) {
      for (const [, target] of read(page).matchAll(/\]\((?!https?:)([^)#]+)\)/g)) {
        expect(() => read(join(page, '..', target!))).not.toThrow();
      }
    }
  });
});
