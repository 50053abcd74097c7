// Two workers of our application behind one port, as in the recipe of docs/deployment.md.
import cluster from 'node:cluster';
import { join } from 'node:path';

const WORKERS = 2;

cluster.setupPrimary({ exec: join(__dirname, 'ours.ts') });
let listening = 0;
cluster.on('listening', (_worker, { port }) => void (++listening === WORKERS && process.send?.({ port })));
process.once('disconnect', () => process.exit());
for (let i = 0; i < WORKERS; i++) cluster.fork();
