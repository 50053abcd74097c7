import 'reflect-metadata';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { userProviderContract } from '@svc/auth/testing';
import { after, before, describe, it } from 'node:test';
import { AppModule } from './app.module.js';
import { Database } from './database.js';
import { users } from './schema.js';

describe('the users on Drizzle', () => {
  let app: INestApplicationContext;

  before(async () => {
    app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
  });
  after(() => app.close());

  const contract = userProviderContract({
    app: () => app,
    insert: async ({ identifier, passwordHash, name }) => {
      const values = { email: identifier, passwordHash, name };
      const [user] = await app.get(Database).drizzle.insert(users).values(values).returning({ id: users.id });
      return user!.id;
    },
  });
  for (const { name, run } of contract) it(name, async () => void (await run()));
});
