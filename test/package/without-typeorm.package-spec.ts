import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { send } from '../support/hosts/processes';
import { createEmptyDatabase, executed } from '../support/stores/database';
import { ON_POOL, installed, start, typeErrors } from './installed';

interface Started {
  url: string;
  withoutPool: string;
  withEntity: string;
  loaded: string[];
}

describe('the package, installed without TypeORM', () => {
  let folder: string;
  let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
  let started: Awaited<ReturnType<typeof start<Started>>>;

  const run = (...args: string[]): { status: number | null; output: string } => {
    const env = { PATH: process.env.PATH, NO_COLOR: '1', DATABASE_URL: database.url };
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' });
    return { status, output: stdout + stderr };
  };
  const svc = (...args: string[]) => run('main.js', ...args);

  beforeAll(async () => {
    database = await createEmptyDatabase();
    await executed(
      'CREATE TABLE customers (id serial PRIMARY KEY, email text UNIQUE, password_hash text)',
      database.url,
    );
    folder = installed(ON_POOL);
  });
  afterAll(async () => {
    started?.stop();
    await database.drop();
  });

  it('does not install it', () => {
    const packages = ['typeorm', '@nestjs/typeorm'].map((name) => join(folder, 'node_modules', name));
    expect(packages.filter(existsSync)).toEqual([]);
  });

  // The declarations of the library name types of TypeORM, which skipLibCheck permits.
  it('compiles the application with skipLibCheck', () => {
    const own = typeErrors(folder, ON_POOL).filter((error) => !error.includes('/node_modules/@svc/'));
    expect(own).toEqual([]);
  });

  it('prints the statements of all tables', () => {
    expect(svc('svc:migrate', '--sql')).toEqual({
      status: 0,
      output: expect.stringMatching(/^CREATE TABLE IF NOT EXISTS "svc_migrations"/),
    });
  });

  it('creates the tables by a command of the console, once', () => {
    expect(svc('svc:migrate')).toEqual({
      status: 0,
      output: expect.stringMatching(/^CreateSvcSessions1763700000000$/m),
    });
    expect(svc('svc:migrate')).toEqual({ status: 0, output: 'The tables are up to date.\n' });
  });

  it('registers, refreshes, reads the user, and ends its sessions', async () => {
    started = await start<Started>(folder, {}, { DATABASE_URL: database.url });
    const { url } = started.sent;
    const password = 'correct-horse-battery';
    const form = { name: 'Ada', email: 'ada@example.com', password, password_confirmation: password };
    expect((await send(`${url}/auth/register`, 'POST', form)).status).toBe(200);
    const { body: first } = await send(`${url}/auth/login`, 'POST', { email: form.email, password });
    const { status, body: next } = await send(`${url}/auth/refresh`, 'POST', { refresh_token: first.refresh_token });
    expect(status).toBe(200);
    const me = await send(`${url}/me`, 'GET', undefined, next.access_token);
    expect(me).toMatchObject({ status: 200, body: { email: form.email } });
    expect((await send(`${url}/me/revoke`, 'GET', undefined, next.access_token)).status).toBe(200);
    expect((await send(`${url}/me`, 'GET', undefined, next.access_token)).status).toBe(401);
    expect((await send(`${url}/auth/refresh`, 'POST', { refresh_token: next.refresh_token })).status).toBe(401);
    const { body: again } = await send(`${url}/auth/login`, 'POST', { email: form.email, password });
    const { body: proof } = await send(`${url}/auth/confirm-password`, 'POST', { password }, again.access_token);
    const headers = { 'X-Svc-Confirmation': proof.confirmation_token };
    expect((await send(`${url}/auth/account`, 'DELETE', undefined, again.access_token, headers)).status).toBe(204);
  });

  it('names what to install to an application that needs it', () => {
    const { withoutPool, withEntity, loaded } = started.sent;
    expect(withoutPool).toMatch(/npm install @nestjs\/typeorm typeorm pg\. Without TypeORM, set the option pool/);
    expect(withEntity).toMatch(/the package typeorm is not installed\. Run: npm install typeorm\./);
    expect(loaded).toEqual([]);
  });

  it('prunes', () => {
    expect(svc('svc:prune')).toEqual({ status: 0, output: expect.stringMatching(/^.+: 0$/m) });
  });

  it('is checked by the doctor, as an application and by the URL of its database', () => {
    const doctor = (...args: string[]) => run('node_modules/.bin/svc-auth', 'doctor', ...args).output;
    for (const output of [doctor('main.js'), doctor()]) {
      expect(output).toMatch(/^ok +tables +The tables svc_sessions, .* have all columns\./m);
      expect(output).toMatch(/^ok +indexes +All indexes/m);
    }
  });
});
