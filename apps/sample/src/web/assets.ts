import { readFileSync, readdirSync } from 'node:fs';
import { extname, join } from 'node:path';

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export interface Asset {
  readonly type: string;
  readonly text: string;
}

/**
 * The files of the page by path, read once. What is not among them is not served, so no path leads elsewhere.
 *
 * @param folder where they are
 * @param others files of packages, by the path that they are served at
 */
export function readAssets(folder: string, others: Readonly<Record<string, string>>): ReadonlyMap<string, Asset> {
  const own = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => [name, join(folder, name)]);
  const known = [...own, ...Object.entries(others)].filter(([name]) => TYPES[extname(name!)]);
  return new Map(
    known.map(([name, file]) => [
      name!.replaceAll('\\', '/'),
      { type: TYPES[extname(name!)]!, text: readFileSync(file!, 'utf8') },
    ]),
  );
}
