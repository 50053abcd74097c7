import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../../apps/sample/src/dev/embedded-postgres';
import { eventually } from '../support/eventually';
import { examples } from '../support/example-process';
import { ROOT } from '../support/package';

/** Runs `node examples/run.mjs` without the stores of the tests. */
function runner(args: readonly string[], variables: Record<string, string> = {}) {
  const child = spawn(process.execPath, [join(ROOT, 'examples/run.mjs'), ...args], {
    env: { PATH: process.env.PATH!, HOME: process.env.HOME!, ...variables },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const ended = once(child, 'close').then(([code]) => code as number);
  return { child, ended, text: () => output };
}

/** Whether a server accepts connections at this address. */
const accepts = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.once('error', () => resolve(false)).once('connect', () => resolve(true));
    socket.once('connect', () => socket.end());
  });

describe('the runner of the examples', () => {
  it('starts an example with its own stores, and stops everything with Ctrl-C', async () => {
    const port = await freePort();
    const { child, ended, text } = runner(['minimal'], { PORT: String(port) });
    await eventually(async () => /^app: http/m.test(text()) || child.exitCode !== null, 240);
    const url = /^app: (\S+)$/m.exec(text())?.[1];
    expect([url, text()]).toEqual([expect.stringMatching(/^http:\/\/localhost:\d+$/), expect.any(String)]);
    expect((await fetch(`${url}/hello`)).status).toBe(401);
    const [, database, redis = database] = /database is (\S+?), its Redis (redis:\S+\w)?/.exec(text())!;
    const servers = [url!, database!, redis!];
    expect(await Promise.all(servers.map(accepts))).toEqual([true, true, true]);
    child.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(await Promise.all(servers.map(accepts))).toEqual([false, false, false]);
    expect(text()).not.toContain('ERROR');
  });

  it('lists the examples without a name, or with an unknown one', async () => {
    for (const args of [[], ['none']]) {
      const { ended, text } = runner(args);
      expect(await ended).toBe(1);
      for (const name of examples().keys()) expect(text()).toContain(name);
    }
  });
});

describe('the examples', () => {
  it.each([...examples().keys()])('have a page and a test: %s', (name) => {
    expect(existsSync(join(ROOT, 'examples', name, 'README.md'))).toBe(true);
    expect(existsSync(join(ROOT, 'test/examples', `${name}.examples-spec.ts`))).toBe(true);
  });
});
