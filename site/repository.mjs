import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

/** @param {string} file */
export const read = (file) => readFileSync(join(ROOT, file), 'utf8');

/** The repository, as the package of the library names it. Links to files that are no page lead there. @type {string} */
export const REPOSITORY = JSON.parse(read('libs/auth/package.json')).repository.url.replace(/^git\+|\.git$/g, '');

/** @type {string} */
export const VERSION = JSON.parse(read('package.json')).version;
