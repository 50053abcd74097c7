// A host application of somebody else's, compiled and run where the package is installed.
import 'reflect-metadata';
import { Controller, Get, Module } from '@nestjs/common';
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  AuthModule,
  type AuthModuleOptions,
  Authenticated,
  CurrentUser,
  PasswordHasher,
  authEntities,
  bcryptVerifier,
  nodemailerMailer,
  withAuthColumns,
  withTwoFactorColumns,
} from '@svc/auth';
import { createClient } from '@redis/client';
import { randomUUID } from 'node:crypto';
import { DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';

const { databaseUrl, redisUrl, fastify, email, wants } = JSON.parse(process.env.HOST_OPTIONS!) as Record<
  string,
  string
>;

@Entity('people')
class Person extends withTwoFactorColumns(withAuthColumns()) {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;
}

@Controller()
class Me {
  @Get('me')
  @Authenticated()
  me(@CurrentUser() user: Person) {
    return { email: user.email };
  }
}

/** Features that need a package of their own. */
const WANTED: Record<string, () => Partial<AuthModuleOptions>> = {
  twoFactor: () => ({ features: { twoFactor: true } }),
  passkeys: () => ({
    features: { passkeys: true },
    passkeys: { rpId: 'localhost', origins: ['http://localhost:3000'] },
  }),
  bcrypt: () => ({ hashing: { verifiers: [bcryptVerifier()] } }),
  mail: () => ({ mail: { mailer: nodemailerMailer('smtp://localhost', 'us@example.com') } }),
};

async function main(): Promise<void> {
  // Beside the module, by a path of its own.
  if (wants === 'console') await import('@svc/auth/console');
  const cache = await createClient({ url: redisUrl }).connect();

  @Module({
    imports: [
      TypeOrmModule.forRoot({
        type: 'postgres',
        url: databaseUrl,
        entities: [...authEntities, Person],
        installExtensions: false,
        retryAttempts: 0,
      }),
      AuthModule.forRoot({
        secret: 'secret-of-a-host-that-installed-the-package',
        encryption: { key: 'key-of-a-host-that-installed-the-package' },
        users: { entity: Person },
        cache,
        // Other tests have revoked tokens of the same ids.
        keyPrefix: `${randomUUID()}:`,
        ...WANTED[wants!]?.(),
      }),
    ],
    controllers: [Me],
  })
  class Host {}

  const adapter = (fastify ? new FastifyAdapter() : new ExpressAdapter()) as unknown as AbstractHttpAdapter;
  const app = await NestFactory.create(Host, adapter, { logger: ['error', 'warn'], abortOnError: false });
  await app.listen(0, '127.0.0.1');
  const passwordHash = await app.get(PasswordHasher).hash('correct-horse-battery');
  await app.get(DataSource).getRepository(Person).save({ email, passwordHash });
  process.send!(await app.getUrl());
  process.once('disconnect', () => process.exit());
}

main().catch((error: Error) => {
  console.error(error.message);
  process.exit(1);
});
