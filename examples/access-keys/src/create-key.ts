import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { Auth } from '@svc/auth';
import { writeFileSync } from 'node:fs';
import { AppModule } from './app.module.js';

/** Creates a key of the service `export`, and writes it as a header into a new file that only its owner can read. */
async function createKey(file: string) {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] });
  const spec = { label: 'nightly export', abilities: ['orders.read'], expiresInDays: 90 };
  const {
    id,
    access_key: key,
    expires_at: expiry,
  } = await app.get(Auth).accessKeys.create({ service: 'export' }, spec);
  writeFileSync(file, `Authorization: Bearer ${key}\n`, { mode: 0o600, flag: 'wx' });
  await app.close();
  console.log(`The key ${id} is in ${file}. It expires ${expiry}.`);
}
void createKey(process.argv[2] ?? 'export.key');
