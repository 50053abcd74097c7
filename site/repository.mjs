import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

/** The repository, to which links to files lead that are no page: the one place of the site that names it. */
export const REPOSITORY = 'https://github.com/svc-auth/svc-auth';

/** @param {string} file */
export const read = (file) => readFileSync(join(ROOT, file), 'utf8');

/** @type {string} */
export const VERSION = JSON.parse(read('package.json')).version;
