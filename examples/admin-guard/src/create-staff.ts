// Creates two members of the staff, who cannot register. `npm run setup` runs it before the first start.
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { PasswordHasher } from '@svc/auth';
import { randomBytes } from 'node:crypto';
import { DataSource } from 'typeorm';
import { StaffMember } from './accounts.js';
import { AppModule } from './app.module.js';

async function main() {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
  const staff = app.get(DataSource).getRepository(StaffMember);
  for (const role of ['support', 'admin'] as const) {
    const email = `${role}@example.com`;
    if (await staff.existsBy({ email })) continue;
    const password = process.env.STAFF_PASSWORD ?? randomBytes(12).toString('hex');
    const passwordHash = await app.get(PasswordHasher).hash(password);
    await staff.insert({ email, role, passwordHash });
    console.log(`Created ${email} with the password ${process.env.STAFF_PASSWORD ? 'in STAFF_PASSWORD' : password}`);
  }
  await app.close();
}
void main();
