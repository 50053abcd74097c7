import { execFile } from 'node:child_process';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type RunningExample, start } from '../support/packages/example';
import { send } from '../support/hosts/processes';
import { offersRoutesOf } from './life-of-a-session';

const run = promisify(execFile);

const ADA = { name: 'Ada', email: 'ada@example.com', password: 'a horse with wings' };

describe('the example access-keys', () => {
  let host: RunningExample;
  let token: string;
  let confirmation: string;
  const at = (file: string): string => join(host.folder, file);

  beforeAll(async () => {
    host = await start('access-keys');
    const form = { ...ADA, password_confirmation: ADA.password };
    token = (await send(`${host.url}/auth/register`, 'POST', form)).body.access_token as unknown as string;
    const confirm = { password: ADA.password };
    const { body } = await send(`${host.url}/auth/confirm-password`, 'POST', confirm, token);
    confirmation = body.confirmation_token as unknown as string;
  });
  afterAll(() => host?.stop());

  /** Runs the job for cron with the key in a file. */
  const exported = async (key: string, target: string): Promise<object> => {
    const env = { ...process.env, EXPORT_URL: `${host.url}/orders`, EXPORT_KEY: key, EXPORT_TARGET: target };
    await run(at('nightly-export.sh'), { env, cwd: host.folder });
    return JSON.parse(readFileSync(at(target), 'utf8'));
  };

  const ownKey = async (abilities: string[]): Promise<{ id: string; access_key: string }> => {
    const proof = { 'X-Svc-Confirmation': confirmation };
    const spec = { label: 'export', abilities };
    const { status, body } = await send(`${host.url}/auth/access-keys`, 'POST', spec, token, proof);
    expect(status).toBe(200);
    return body as never;
  };

  const fileOf = (name: string, key: string): string => {
    writeFileSync(at(name), `Authorization: Bearer ${key}\n`, { mode: 0o600 });
    return name;
  };

  it('exports with the key of a service, which its own process has written for its owner alone', async () => {
    const env = { ...process.env, ...host.variables };
    const { stdout } = await run('npm', ['run', '-s', 'create-key', '--', 'export.key'], { env, cwd: host.folder });
    expect(stdout).not.toContain('shop_');
    expect(statSync(at('export.key')).mode & 0o777).toBe(0o600);
    expect(await exported('export.key', 'service.json')).toMatchObject({ for: 'export' });
    expect(statSync(at('service.json')).mode & 0o777).toBe(0o600);
  });

  it('exports with the key of a user, until the user revokes it', async () => {
    const { id, access_key: key } = await ownKey(['orders.read']);
    expect(await exported(fileOf('own.key', key), 'own.json')).toMatchObject({ orders: [{ id: 1 }] });
    expect((await send(`${host.url}/orders`, 'POST', {}, key)).status).toBe(403);
    expect((await send(`${host.url}/auth/access-keys/${id}`, 'DELETE', undefined, token)).status).toBe(204);
    await expect(exported('own.key', 'none.json')).rejects.toThrow(/401/);
  });

  it('does not use a file that other users can read', async () => {
    const { access_key: key } = await ownKey(['orders.read']);
    chmodSync(at(fileOf('open.key', key)), 0o640);
    await expect(exported('open.key', 'none.json')).rejects.toThrow(/chmod 600/);
  });

  it('gives a key that lacks the ability no orders', async () => {
    const { access_key: key } = await ownKey([]);
    await expect(exported(fileOf('empty.key', key), 'none.json')).rejects.toThrow(/403/);
    expect(host.logs).not.toContain('ERROR');
    expect(host.logs).not.toContain('shop_');
  });

  it('offers the routes of its page', () => offersRoutesOf('access-keys', Object.values(host.urls)));
});
