import { Clock } from '@svc/auth';
import { totpCode } from '@svc/auth/testing';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type TestDatabase, createEmptyDatabase, executed } from '../support/stores/database';
import { type RunningExample, start } from '../support/packages/example';
import { installExample } from '../support/packages/example-process';
import { run } from '../support/packages/package';
import { send } from '../support/hosts/processes';
import { TcpProxy } from '../support/faults/tcp-proxy';
import { livesAndEnds, refusesGarbage, signIn, statusAt } from './life-of-a-session';

const ADA = { name: 'Ada', email: 'ada@example.com', password: 'a horse with wings' };

/** The tests of an example whose users are not on TypeORM. */
export function describeUsersOn(name: string): void {
  describe(`the example ${name}`, () => {
    let host: RunningExample;
    let database: TestDatabase;
    let proxy: TcpProxy;
    const place = () => ({ auth: `${host.url}/auth`, guarded: `${host.url}/hello` });
    const post = (path: string, body: object, token?: string, proof?: string) =>
      send(`${host.url}/auth/${path}`, 'POST', body, token, { 'X-Svc-Confirmation': proof });
    const register = (fields: object) => post('register', { ...ADA, password_confirmation: ADA.password, ...fields });
    const proofOf = async (token: string): Promise<string> =>
      (await post('confirm-password', { password: ADA.password }, token)).body.confirmation_token!;

    beforeAll(async () => {
      database = await createEmptyDatabase();
      proxy = await TcpProxy.to(Number(new URL(database.url).port));
      host = await start(name, { DATABASE_URL: proxy.through(database.url) });
    });
    afterAll(async () => {
      await host?.stop();
      await proxy.close();
      await database.drop();
    });

    it('registers a user, once, and greets it', async () => {
      const { status, body } = await register({ email: 'ADA@example.com' });
      expect(status).toBe(200);
      expect(await statusAt(place().guarded, body.access_token)).toBe(200);
      expect((await register({})).status).toBe(422);
      expect((await register({ email: 'none', name: 7 })).status).toBe(422);
    });

    it('signs in, guards its route, refreshes, and refuses every token after the sign-out', async () => {
      await livesAndEnds(place(), ADA.email, ADA.password);
      await livesAndEnds(place(), ' Ada@Example.com', ADA.password);
    });

    it('refuses invalid input', () => refusesGarbage(place()));

    it('changes the password, and ends the other sessions', async () => {
      const [other, own] = [
        await signIn(place(), ADA.email, ADA.password),
        await signIn(place(), ADA.email, ADA.password),
      ];
      const change = (password: string, next: string) =>
        post('password', { current_password: password, password: next, password_confirmation: next }, own.access);
      expect((await change(ADA.password, 'another horse with wings')).status).toBe(200);
      expect(await statusAt(place().guarded, other.access)).toBe(401);
      expect((await post('login', { email: ADA.email, password: ADA.password })).status).toBe(422);
      expect((await change('another horse with wings', ADA.password)).status).toBe(200);
    });

    it('asks for the second factor, and spends a recovery code once', async () => {
      const { access } = await signIn(place(), ADA.email, ADA.password);
      const proof = await proofOf(access);
      const enrolled = await post('two-factor', {}, access, proof);
      const { otpauth_uri: uri, recovery_codes: codes } = enrolled.body as unknown as {
        otpauth_uri: string;
        recovery_codes: string[];
      };
      expect((await post('two-factor/confirm', { code: totpCode(uri) }, access, proof)).status).toBe(204);
      const challenge = async (): Promise<string> =>
        (await post('login', { email: ADA.email, password: ADA.password })).body.challenge_token!;
      const complete = async (answer: object) =>
        (await post('two-factor-challenge', { challenge_token: await challenge(), ...answer })).status;
      // The next code: the current one was spent by the enrolment.
      const code = totpCode(uri, new Clock(), 1);
      expect(await complete({ code })).toBe(200);
      expect(await complete({ code })).toBe(422);
      const spent = await Promise.all([1, 2, 3].map(() => complete({ recovery_code: codes[0] })));
      expect(spent.toSorted()).toEqual([200, 422, 422]);
      const off = await send(`${host.url}/auth/two-factor`, 'DELETE', undefined, access, {
        'X-Svc-Confirmation': await proofOf(access),
      });
      expect(off.status).toBe(204);
    });

    it('deletes the user, and registers its email again', async () => {
      const { access } = await signIn(place(), ADA.email, ADA.password);
      const confirmed = { 'X-Svc-Confirmation': await proofOf(access) };
      expect((await send(`${host.url}/auth/account`, 'DELETE', undefined, access, confirmed)).status).toBe(204);
      expect(await statusAt(place().guarded, access)).toBe(401);
      expect((await post('login', { email: ADA.email, password: ADA.password })).status).toBe(422);
      expect((await register({})).status).toBe(200);
      expect(host.logs).not.toContain('ERROR');
    });

    it('answers 503 while PostgreSQL is away, and works again afterwards', async () => {
      const { access } = await signIn(place(), ADA.email, ADA.password);
      proxy.down();
      const answers = [await statusAt(place().guarded, access), (await post('login', ADA)).status];
      proxy.heal();
      expect(answers).toEqual([503, 503]);
      expect(await statusAt(place().guarded, access)).toBe(200);
      await signIn(place(), ADA.email, ADA.password);
    });

    it('has a provider that keeps the contract, by its own test', async () => {
      const [folder, empty] = [installExample(name), await createEmptyDatabase()];
      try {
        const variables = {
          DATABASE_URL: empty.url,
          SVC_SECRET: randomBytes(32).toString('hex'),
          SVC_ENCRYPTION_KEY: randomBytes(32).toString('hex'),
          REDIS_URL: '',
        };
        const printed = run('npm', ['test', '--silent'], folder, variables);
        expect(printed).toMatch(/(# |ℹ )pass [1-9]\d*\n\1fail 0\n/);
        expect(printed).toContain('every look-up and every write throws while the store does not answer');
        // The test has a database of its own: it creates nothing in this one.
        const tables = `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`;
        expect(await executed(tables, empty.url)).toMatchObject({ rows: [] });
      } finally {
        await empty.drop();
      }
    });

    it('is checked by the doctor', () => {
      const folder = installExample(name);
      const variables = {
        DATABASE_URL: database.url,
        SVC_SECRET: randomBytes(32).toString('hex'),
        SVC_ENCRYPTION_KEY: randomBytes(32).toString('hex'),
        REDIS_URL: '',
      };
      const env = { ...process.env, NO_COLOR: '1', ...variables };
      const main = 'node_modules/@svc/auth/dist/tools/cli/main.js';
      const args = [main, 'doctor', 'dist/app.module.js', '--export', 'AppModule'];
      const { stdout } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' });
      expect(stdout).toMatch(/^ok +start +\S+ starts\.$/m);
      expect(stdout).toMatch(/^ok +tables +The tables svc_sessions, .* have all columns\.$/m);
      expect(stdout).toMatch(/^Errors: 0\./m);
    });

    it('has no TypeORM', () => {
      const packages = ['typeorm', '@nestjs/typeorm'].map((one) => join(installExample(name), 'node_modules', one));
      expect(packages.filter(existsSync)).toEqual([]);
    });
  });
}
