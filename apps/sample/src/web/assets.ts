import { readFileSync, readdirSync } from 'node:fs';
import { extname, join } from 'node:path';

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export interface Asset {
  readonly type: string;
  readonly text: string;
}

/**
 * Reads the files of the page once. Only these files are served: a path of a request never reaches the file system.
 *
 * @param folder the folder of the page
 * @param others files of packages, by the path at which they are served
 * @returns the files by path
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
