import 'reflect-metadata';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { userProviderContract } from '@svc/auth/testing';
import { drizzle } from 'drizzle-orm/node-postgres';
import { after, before, describe, it } from 'node:test';
import { AppModule } from './app.module.js';
import { Database } from './database.js';
import { users } from './schema.js';
import { useNewDatabase } from './test-database.js';
import { usersOf } from './users.js';

/** An address where no PostgreSQL listens. */
const NOWHERE = 'postgres://127.0.0.1:1/none';

void describe('the users on Drizzle', () => {
  let app: INestApplicationContext;
  let dropDatabase: () => Promise<void>;

  before(async () => {
    dropDatabase = await useNewDatabase();
    app = await NestFactory.createApplicationContext(AppModule, {
      logger: ['error'],
    });
  });
  after(async () => {
    await app?.close();
    await dropDatabase?.();
  });

  const contract = userProviderContract({
    app: () => app,
    insert: async ({ identifier, passwordHash, name }) => {
      const values = { email: identifier, passwordHash, name };
      const [user] = await app
        .get(Database)
        .drizzle.insert(users)
        .values(values)
        .returning({ id: users.id });
      return user!.id;
    },
    another: () => usersOf(app.get(Database)),
    unreachable: () => usersOf({ drizzle: drizzle(NOWHERE) } as Database),
  });
  for (const { name, run } of contract)
    void it(name, async () => void (await run()));
});
