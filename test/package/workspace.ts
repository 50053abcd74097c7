import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { blocksOf, fileOf } from '../docs/blocks';
import {
  INSTALL,
  LIBRARY,
  ROOT,
  fillOnce,
  manifestOf,
  packLibrary,
  replaceLibrary,
  run,
} from '../support/packages/package';

const PAGE = 'docs/recipes/monorepo.md';
const blocks = blocksOf(PAGE);
const [root, accounts] = blocks.filter(({ language }) => language === 'json').map(({ text }) => text);

/** A file of the page, as it is in a workspace: the applications import the shared package by its name. */
const shown = (file: string): string =>
  blocks.find((block) => fileOf(block) === file)!.text.replaceAll('./accounts.js', '@shop/accounts');

type Files = Readonly<Record<string, string>>;

/** The manifests of the workspace. @param library where npm finds the packed library */
function manifests(needs: Files, library: string): Files {
  const application = (name: string): string =>
    JSON.stringify({
      name,
      version: '1.0.0',
      dependencies: { '@shop/accounts': '*', '@svc/auth': library, ...needs },
    });
  return {
    'package.json': root!,
    'packages/accounts/package.json': accounts!,
    'apps/api/package.json': application('@shop/api'),
    'apps/reports/package.json': application('@shop/reports'),
  };
}

const SOURCES: Files = {
  'packages/accounts/src/index.ts': `${shown('src/accounts.ts')}\nexport * from './profile.controller.js';`,
  'packages/accounts/src/profile.controller.ts': `
    import { Controller, Get } from '@nestjs/common';
    import { Authenticated, type Caller, CurrentCaller } from '@svc/auth';
    @Controller('profile')
    @Authenticated()
    export class ProfileController {
      @Get() show(@CurrentCaller() { userId }: Caller) { return { userId }; }
    }`,
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
          verifyOnly: true,
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
};

const TYPES = join(ROOT, 'node_modules/@types');
const COMPILER = [
  ...'--module nodenext --target es2022 --strict --skipLibCheck --declaration --rootDir src --outDir dist'.split(' '),
  ...`--experimentalDecorators --emitDecoratorMetadata --types node --typeRoots ${TYPES}`.split(' '),
];

function write(folder: string, files: Files): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
}

/**
 * Installs the workspace of the recipe with npm: a shared package, and two applications with the same needs. This is done once
 * for each set of manifests.
 *
 * @returns its folder, with the library in the state of its first install
 */
export function installedWorkspace(needs: Files): string {
  const key = JSON.stringify([manifests(needs, ''), manifestOf(LIBRARY)]);
  return fillOnce(`svc-workspace-${createHash('sha256').update(key).digest('hex').slice(0, 16)}`, (work) => {
    write(work, manifests(needs, `file:${packLibrary()}`));
    run('npm', ['install', ...INSTALL], work);
  });
}

/** The workspace of the recipe with the packed library, compiled. @returns its folder */
export function compiledWorkspace(needs: Files): string {
  const folder = installedWorkspace(needs);
  replaceLibrary(folder);
  write(folder, SOURCES);
  const compiler = [join(ROOT, 'node_modules/typescript/bin/tsc'), ...COMPILER];
  for (const [place, main] of [
    ['packages/accounts', 'index'],
    ['apps/api', 'main'],
    ['apps/reports', 'main'],
  ] as const)
    run(process.execPath, [...compiler, `src/${main}.ts`], join(folder, place));
  return folder;
}
