import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../../apps/sample/src/dev/embedded-postgres';
import { type TestDatabase, createEmptyDatabase } from '../support/stores/database';
import { run } from '../support/packages/package';
import { describeWithRedis, sharedRedisUrl } from '../support/stores/with-redis';
import { NEST_11 } from './installed';
import { compiledWorkspace } from './workspace';

describeWithRedis('a workspace with two applications, as in the recipe', () => {
  let folder: string;
  const children: ChildProcess[] = [];
  let database: TestDatabase;

  beforeAll(async () => {
    folder = compiledWorkspace(NEST_11);
    database = await createEmptyDatabase();
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await database?.drop();
  });

  const keys = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });

  /** Starts an application. @returns its address, and the first line that it prints */
  async function begin(place: string): Promise<{ url: string; printed: Record<string, string> }> {
    const port = await freePort();
    const env = {
      PATH: process.env.PATH!,
      PORT: String(port),
      DATABASE_URL: database.url,
      REDIS_URL: sharedRedisUrl()!,
      SVC_SECRET: 'a-secret-of-the-recipe-0123456789-abcdef',
      SVC_PRIVATE_KEY: keys.privateKey,
      SVC_PUBLIC_KEY: keys.publicKey,
    };
    const child = spawn(process.execPath, ['dist/main.js'], { cwd: join(folder, place), env });
    children.push(child);
    let errors = '';
    child.stderr.on('data', (text) => (errors += text));
    for await (const line of createInterface(child.stdout))
      if (line.startsWith('{')) return { url: `http://127.0.0.1:${port}`, printed: JSON.parse(line) };
    throw new Error(`${place} ended: ${errors}`);
  }

  it('has one copy of each package that must exist once', () => {
    const names = ['@svc/auth', '@nestjs/core', 'typeorm', 'reflect-metadata'];
    const paths = run('npm', ['ls', '--all', '--parseable', ...names], folder)
      .trim()
      .split('\n');
    expect(new Set(paths).size).toBe(names.length);
  });

  it('accepts a token of the issuer at the service, in a controller of the shared package, until the sign-out', async () => {
    const [api, reports] = [await begin('apps/api'), await begin('apps/reports')];
    const headers = { Authorization: `Bearer ${api.printed.accessToken}` };
    const profile = async (): Promise<[number, unknown]> => {
      const answer = await fetch(`${reports.url}/profile`, { headers });
      return [answer.status, answer.ok ? await answer.json() : undefined];
    };
    expect(await profile()).toEqual([200, { userId: api.printed.id }]);
    expect((await fetch(`${api.url}/auth/logout`, { method: 'POST', headers })).status).toBe(204);
    expect(await profile()).toEqual([401, undefined]);
  });
});
