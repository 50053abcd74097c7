import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PAGES, ROOT } from '../../../../../test/docs/blocks';
import { VARIABLES } from './options.testkit';

const read = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

describe('the documentation of environment variables', () => {
  it('names every variable that is read', () => {
    const page = read('docs/options.md');
    for (const [name] of VARIABLES) expect(page).toContain(`\`SVC_${name}\``);
    expect(page).toContain('`SVC_PUBLIC_KEY`');
  });

  it('names no variable that is not read', () => {
    const known = new Set([
      ...VARIABLES.map(([name]) => `SVC_${name}`),
      'SVC_PUBLIC_KEY',
      'SVC_ADMIN_SECRET',
      'SVC_ALLOW_TESTING',
    ]);
    const unknown = PAGES.flatMap((page) =>
      [...read(page).matchAll(/`(SVC_[A-Z0-9_]*[A-Z0-9])`/g)]
        .filter(([, variable]) => !known.has(variable!))
        .map(([text]) => `${page}: ${text}`),
    );
    expect(unknown).toEqual([]);
  });
});
