import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DevModule } from '../../apps/sample/src/dev/dev.module';
import { readEnvironment } from '../../apps/sample/src/environment';
import { routesOfRouter } from '../support/hosts/adapter';
import { savedVariables } from '../support/runtime/variables';
import { createEmptyDatabase } from '../support/stores/database';

/** The routes that the sample mounts with its default settings: `POST /auth/login`. */
export async function sampleRoutes(): Promise<string[]> {
  const database = await createEmptyDatabase();
  const restoreVariables = savedVariables();
  const directory = mkdtempSync(join(tmpdir(), 'svc-docs-'));
  // The sample adds defaults to its environment.
  process.env.DATA_DIR = directory;
  const environment = readEnvironment(process.env, ['--mailbox']);
  try {
    const app = await NestFactory.create(DevModule.forEnvironment(environment, database.url), { logger: false });
    await app.init();
    const routes = routesOfRouter(app.getHttpAdapter() as AbstractHttpAdapter);
    await app.close();
    return routes;
  } finally {
    restoreVariables();
    rmSync(directory, { recursive: true });
    await database.drop();
  }
}
