import 'reflect-metadata';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { PrismaPg } from '@prisma/adapter-pg';
import { Auth } from '@svc/auth';
import { userProviderContract } from '@svc/auth/testing';
import { strict as assert } from 'node:assert';
import { after, before, describe, it } from 'node:test';
import { AppModule } from './app.module.js';
import { Database } from './database.js';
import { PrismaClient } from './generated/client.js';
import { useNewDatabase } from './test-database.js';
import { usersOf } from './users.js';

/** An address where no PostgreSQL listens. */
const NOWHERE = 'postgres://127.0.0.1:1/none';

void describe('the users on Prisma', () => {
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
      const data = { email: identifier, passwordHash, name };
      return (await app.get(Database).prisma.user.create({ data })).id;
    },
    another: () => usersOf(app.get(Database)),
    unreachable: () =>
      usersOf({
        prisma: new PrismaClient({ adapter: new PrismaPg(NOWHERE) }),
      } as Database),
  });
  for (const { name, run } of contract)
    void it(name, async () => void (await run()));

  void it('create throws for a conflict on another column than the email', async () => {
    await app
      .get(Database)
      .pool.query(
        `CREATE UNIQUE INDEX ON users (name) WHERE name = 'Ada Byron'`,
      );
    const create = (email: string) =>
      usersOf(app.get(Database)).create({
        identifier: email,
        passwordHash: 'x',
        name: 'Ada Byron',
      });
    await create('ada@example.com');
    assert.equal(await create('ada@example.com'), null);
    await assert.rejects(create('byron@example.com'), { code: 'P2002' });
  });

  void it('create uses the transaction that stores a passkey, and a taken email does not end it', async () => {
    const users = usersOf(app.get(Database));
    const account = (email: string) => ({
      identifier: email,
      passwordHash: null,
      name: 'Grace',
    });
    const undo = new Error('undo');
    let id: string | undefined;
    await app.get(Auth).transaction(async (manager) => {
      const user = await users.create(account('grace@example.com'), manager);
      assert.equal(
        await users.create(account('grace@example.com'), manager),
        null,
      );
      id = user?.id;
    });
    assert.equal((await users.findById(id!))?.email, 'grace@example.com');
    const undone = app.get(Auth).transaction(async (manager) => {
      await users.create(account('hopper@example.com'), manager);
      throw undo;
    });
    await assert.rejects(undone, undo);
    assert.equal(await users.findByIdentifier('hopper@example.com'), null);
  });
});
