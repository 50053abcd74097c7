// Installs the packages of the site, unless exactly those of `package-lock.json` are installed. Needs no network then.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const site = dirname(fileURLToPath(import.meta.url));
const packagesOf = (file) => Object.entries(JSON.parse(readFileSync(join(site, file), 'utf8')).packages);

const INSTALLED = 'node_modules/.package-lock.json';
const installed = new Map(existsSync(join(site, INSTALLED)) ? packagesOf(INSTALLED) : []);
const isMissing = ([path, { version, optional }]) => path && !optional && installed.get(path)?.version !== version;

if (packagesOf('package-lock.json').some(isMissing))
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: site,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
