// Creates two members of the staff: they cannot register. `npm run setup` runs it before the start.
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { PasswordHasher } from '@svc/auth';
import { DataSource } from 'typeorm';
import { StaffMember } from './accounts.js';
import { AppModule } from './app.module.js';

async function main() {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
  const passwordHash = await app.get(PasswordHasher).hash(process.env.STAFF_PASSWORD ?? 'a zebra with stripes');
  const staff = app.get(DataSource).getRepository(StaffMember);
  for (const role of ['support', 'admin'] as const)
    await staff.upsert({ email: `${role}@example.com`, role, passwordHash }, ['email']);
  await app.close();
  // The connection to Redis is still open.
  process.exit();
}
void main();
