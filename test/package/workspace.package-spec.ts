import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../../apps/sample/src/dev/embedded-postgres';
import { blocksOf, fileOf } from '../docs/blocks';
import { type TestDatabase, createEmptyDatabase, executed } from '../support/database';
import { ROOT, packLibrary, run } from '../support/package';
import { describeWithRedis, sharedRedisUrl } from '../support/with-redis';
import { HOSTS } from './installed';

const PAGE = 'docs/recipes/monorepo.md';
const blocks = blocksOf(PAGE);
const [root, accounts] = blocks.filter(({ language }) => language === 'json').map(({ text }) => text);

/** A file of the page, as it is in a workspace: the applications import the shared package by its name. */
const shown = (file: string): string =>
  blocks.find((block) => fileOf(block) === file)!.text.replaceAll('./accounts.js', '@shop/accounts');

const { needs } = HOSTS.find(({ name }) => name === 'Nest 11, CommonJS')!;

const manifest = (name: string): string =>
  JSON.stringify({
    name,
    version: '1.0.0',
    dependencies: { '@shop/accounts': '*', '@svc/auth': `file:${packLibrary()}`, ...needs },
  });

const files = (): Record<string, string> => ({
  'package.json': root!,
  'packages/accounts/package.json': accounts!,
  'packages/accounts/src/index.ts': `${shown('src/accounts.ts')}\nexport * from './profile.controller.js';`,
  'packages/accounts/src/profile.controller.ts': `
    import { Controller, Get } from '@nestjs/common';
    import { Authenticated, type Caller, CurrentCaller } from '@svc/auth';
    @Controller('profile')
    @Authenticated()
    export class ProfileController {
      @Get() show(@CurrentCaller() { userId }: Caller) { return { userId }; }
    }`,
  'apps/api/package.json': manifest('@shop/api'),
  'apps/api/src/api.module.ts': shown('src/api.module.ts'),
  'apps/api/src/main.ts': `
    import { NestFactory } from '@nestjs/core';
    import { Account } from '@shop/accounts';
    import { Auth } from '@svc/auth';
    import { DataSource } from 'typeorm';
    import { ApiModule } from './api.module.js';
    void (async () => {
      const app = await NestFactory.create(ApiModule, { logger: ['error'] });
      await app.listen(Number(process.env.PORT), '127.0.0.1');
      const { id } = await app.get(DataSource).manager.save(Object.assign(new Account(), { name: 'Ada', email: 'ada@example.com' }));
      console.log(JSON.stringify({ id, ...(await app.get(Auth).startSession(id)) }));
    })();`,
  'apps/reports/package.json': manifest('@shop/reports'),
  'apps/reports/src/main.ts': `
    import { Module } from '@nestjs/common';
    import { NestFactory } from '@nestjs/core';
    import { AUDIENCES, ProfileController, shared } from '@shop/accounts';
    import { AuthModule, UserProvider } from '@svc/auth';
    class Subjects extends UserProvider<{ id: string }> {
      findById = async (id: string) => ({ id });
      findByIdentifier = async () => null;
      idOf = ({ id }: { id: string }) => id;
      passwordHashOf = async () => null;
      savePasswordHash = async () => false;
    }
    @Module({
      imports: [
        AuthModule.forRootAsync({
          routes: false,
          users: { provider: Subjects },
          useFactory: () => ({
            ...shared(),
            audience: AUDIENCES.reports,
            keys: { active: 'k1', public: { k1: process.env.SVC_PUBLIC_KEY! } },
          }),
        }),
      ],
      controllers: [ProfileController],
    })
    class ReportsModule {}
    void (async () => {
      const app = await NestFactory.create(ReportsModule, { logger: ['error'] });
      await app.listen(Number(process.env.PORT), '127.0.0.1');
      console.log('{}');
    })();`,
});

const TYPES = join(ROOT, 'node_modules/@types');
const FLAGS = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--strict-peer-deps'];
const COMPILER = [
  ...'--module nodenext --target es2022 --strict --skipLibCheck --declaration --rootDir src --outDir dist'.split(' '),
  ...`--experimentalDecorators --emitDecoratorMetadata --types node --typeRoots ${TYPES}`.split(' '),
];

describeWithRedis('a workspace with two applications, as in the recipe', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-workspace-'));
  const children: ChildProcess[] = [];
  let database: TestDatabase;

  beforeAll(async () => {
    for (const [file, text] of Object.entries(files())) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    run('npm', ['install', ...FLAGS], folder);
    const compiler = [join(ROOT, 'node_modules/typescript/bin/tsc'), ...COMPILER];
    for (const [place, main] of [
      ['packages/accounts', 'index'],
      ['apps/api', 'main'],
      ['apps/reports', 'main'],
    ] as const)
      run(process.execPath, [...compiler, `src/${main}.ts`], join(folder, place));
    database = await createEmptyDatabase();
    await executed(
      `CREATE TABLE accounts (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), name text NOT NULL,
         email text NOT NULL UNIQUE, password_hash text)`,
      database.url,
    );
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
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
