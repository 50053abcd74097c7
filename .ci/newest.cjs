// Installs the newest versions that the ranges of the package allow, as a new host does. It changes no manifest.
const { spawnSync } = require('node:child_process');
const { dependencies, peerDependencies } = require('../libs/auth/package.json');

const wanted = Object.entries({ ...dependencies, ...peerDependencies }).map(([name, range]) => `${name}@${range}`);
// The root pins other versions of some of these packages.
const { status } = spawnSync('npm', ['install', '--no-save', '--legacy-peer-deps', ...wanted], { stdio: 'inherit' });
process.exit(status ?? 1);
