import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FEATURES } from '../../features';
import { METRICS } from './metrics';
import { declaredRoutes, statedReasons } from '../../request/gates/declared-routes.testkit';

const read = (page: string): string =>
  readFileSync(join(__dirname, '../../../../../docs', page), 'utf8').replaceAll(/ +/g, ' ');

describe('docs/routes.md', () => {
  const page = read('routes.md');

  it('lists every reason with its meaning', () => {
    for (const [reason, meaning] of statedReasons()) expect(page).toContain(`| \`${reason}\` | ${meaning} |`);
  });

  it('lists every event with its name in the log', () => {
    const listed = [...page.matchAll(/^\| `(auth\.\w+\.\w+)` \| `(\w+)` \|/gm)].map(([, name, event]) => [name, event]);
    const logged = FEATURES.flatMap(({ events = {} }) =>
      Object.entries(events).map(([name, { event }]) => [name, event.name]),
    );
    expect(listed.toSorted()).toEqual(logged.toSorted());
  });

  it('lists every operation and whether its success is logged', () => {
    for (const { operation, quiet } of declaredRoutes())
      expect(page).toMatch(new RegExp(`\\| \`${operation}\` \\| .* \\| ${quiet ? 'no' : 'yes'} \\|`));
  });
});

describe('docs/operations.md', () => {
  const page = read('operations.md');

  it('lists every metric with its kind, unit and description', () => {
    for (const [name, { kind, unit, description }] of Object.entries(METRICS)) {
      expect(page).toContain(`| \`${name}\` | ${kind}, \`${unit}\` |`);
      expect(page).toContain(description);
    }
  });
});
