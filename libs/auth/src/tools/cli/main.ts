#!/usr/bin/env node
import { stderr, version, versions } from 'node:process';

const [major = 0, minor = 0] = versions.node.split('.').map(Number);

// Before the other files are loaded: with an older Node they fail with an error that does not name the cause.
if (major < 20 || (major === 20 && minor < 19)) {
  stderr.write(`svc-auth needs Node.js 20.19 or later. This is ${version}: install a later one.\n`);
  process.exit(1);
}

const { runCli } = require('./commands') as typeof import('./commands');
void runCli(process.argv.slice(2));
