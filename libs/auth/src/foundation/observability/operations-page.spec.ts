import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { METRICS } from './metrics';
import { OPERATIONS, QUIET, REASONS, SECURITY_EVENTS } from '../platform/catalogue';

const page = readFileSync(join(__dirname, '../../../../../docs/operations.md'), 'utf8').replaceAll(/ +/g, ' ');

describe('the page of operations', () => {
  it('gives every reason, with its meaning', () => {
    for (const [reason, meaning] of Object.entries(REASONS)) expect(page).toContain(`| \`${reason}\` | ${meaning} |`);
  });

  it('gives every event, with the name that the log has for it', () => {
    for (const [name, event] of Object.entries(SECURITY_EVENTS))
      expect(page).toContain(`| \`${name}\` | \`${event}\` |`);
  });

  it('gives every operation, and says whether its successes are logged', () => {
    for (const operation of Object.values(OPERATIONS))
      expect(page).toMatch(new RegExp(`\\| \`${operation}\` \\| .* \\| ${QUIET.has(operation) ? 'no' : 'yes'} \\|`));
  });

  it('gives every metric, with its kind, unit and description', () => {
    for (const [name, { kind, unit, description }] of Object.entries(METRICS)) {
      expect(page).toContain(`| \`${name}\` | ${kind}, \`${unit}\` |`);
      expect(page).toContain(description);
    }
  });
});
