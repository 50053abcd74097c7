import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the commands print from the manifest of the library: compiled files are as far below it as the sources. */
export const manifestOfLibrary = (): { version: string; homepage: string } =>
  JSON.parse(readFileSync(join(__dirname, '../../../package.json'), 'utf8')) as ReturnType<typeof manifestOfLibrary>;
