import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FEATURES } from './features';

const page = readFileSync(join(__dirname, '../../../docs/operations.md'), 'utf8').replaceAll(/ +/g, ' ');

it('docs/operations.md lists every event with its name in the log', () => {
  const listed = [...page.matchAll(/^\| `(auth\.\w+\.\w+)` \| `(\w+)` \|/gm)].map(([, name, event]) => [name, event]);
  const logged = FEATURES.flatMap(({ events = {} }) =>
    Object.entries(events).map(([name, { event }]) => [name, event.name]),
  );
  expect(listed.toSorted()).toEqual(logged.toSorted());
});
