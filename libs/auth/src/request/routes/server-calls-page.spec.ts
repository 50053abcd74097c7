import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { declaredRoutes } from '../gates/declared-routes.testkit';

const page = readFileSync(join(__dirname, '../../../../../docs/server-calls.md'), 'utf8');

describe('the table of server calls', () => {
  it('names every route of the library once', () => {
    const rows = [...page.matchAll(/^\| `((?:GET|HEAD|POST|PATCH|DELETE) [^`]+)` +\|/gm)].map(([, route]) => route);
    const routes = declaredRoutes().map(({ method, path }) => `${method} ${path}`);
    expect(routes.length).toBeGreaterThan(30);
    expect(rows.toSorted()).toEqual(routes.toSorted());
  });
});
