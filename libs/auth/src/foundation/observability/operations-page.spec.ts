import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { METRICS } from './metrics';
import { declaredRoutes, statedReasons } from '../../request/gates/declared-routes.testkit';

const page = readFileSync(join(__dirname, '../../../../../docs/operations.md'), 'utf8').replaceAll(/ +/g, ' ');

describe('docs/operations.md', () => {
  it('lists every reason with its meaning', () => {
    for (const [reason, meaning] of statedReasons()) expect(page).toContain(`| \`${reason}\` | ${meaning} |`);
  });

  it('lists every operation and whether its success is logged', () => {
    for (const { operation, quiet } of declaredRoutes())
      expect(page).toMatch(new RegExp(`\\| \`${operation}\` \\| .* \\| ${quiet ? 'no' : 'yes'} \\|`));
  });

  it('lists every metric with its kind, unit and description', () => {
    for (const [name, { kind, unit, description }] of Object.entries(METRICS)) {
      expect(page).toContain(`| \`${name}\` | ${kind}, \`${unit}\` |`);
      expect(page).toContain(description);
    }
  });
});
