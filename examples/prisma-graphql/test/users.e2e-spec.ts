import 'reflect-metadata';
import type { INestApplicationContext } from '@nestjs/common';
import type { ConfigService } from '@nestjs/config';
import { NestFactory } from '@nestjs/core';
import { userProviderContract } from '@svc/auth/testing';
import { after, before, describe, it } from 'node:test';
import { AppModule } from '../src/app.module.js';
import { usersOf } from '../src/auth/prisma-users.js';
import { createUser } from '../src/auth/signup.js';
import { PrismaService } from '../src/common/prisma/prisma.service.js';
import { useNewDatabase } from './test-database.js';

/** An address where no PostgreSQL listens. */
const NOWHERE = { get: () => 'postgres://127.0.0.1:1/none' } as unknown as ConfigService;

void describe('the provider of the users', () => {
  let app: INestApplicationContext;
  let dropDatabase: () => Promise<void>;

  before(async () => {
    dropDatabase = await useNewDatabase();
    app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
  });
  after(async () => {
    await app?.close();
    await dropDatabase?.();
  });

  const contract = userProviderContract({
    app: () => app,
    insert: async ({ identifier: email, passwordHash: password }) => {
      const asGiven = { guard: 'api', hash: async (hash: string) => hash };
      const user = await createUser(app.get(PrismaService))({ email, password }, asGiven);
      return (user as { id: string }).id;
    },
    // The column of the hash takes no null.
    usersWithoutPassword: false,
    another: () => usersOf(app.get(PrismaService)),
    absentId: () => 'cjld2cjxh0000qzrmn831i7rn',
    unreachable: () => usersOf(new PrismaService(NOWHERE)),
  });
  for (const { name, run } of contract) void it(name, async () => void (await run()));
});
