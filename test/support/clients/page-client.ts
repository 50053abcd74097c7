import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run } from '../packages/package';

const CLIENT = join(ROOT, 'libs/auth-client');
const BUILT = ['auth-client.js', 'auth-account.js', 'auth-identities.js'].map((name) =>
  join(ROOT, 'apps/sample/src/web/app', name),
);

/** The time of the last change; 0 without the file. */
const changedAt = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Builds the client of the sample's page, unless its sources are older. `npm ci` builds it once. */
export function buildClientOfPage(): void {
  const sources = readdirSync(join(CLIENT, 'src')).map((name) => join(CLIENT, 'src', name));
  const changed = Math.max(...[...sources, join(CLIENT, 'build.mjs')].map(changedAt));
  if (Math.min(...BUILT.map(changedAt)) <= changed) run('npm', ['run', '--silent', 'build:client'], ROOT);
}
