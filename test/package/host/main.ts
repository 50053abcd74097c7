// A host application, compiled and run in the folder in which the package is installed.
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

const { databaseUrl, redisUrl, fastify, email } = JSON.parse(process.env.HOST_OPTIONS!) as Record<string, string>;

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

/** Features that need an optional package. */
const FEATURES: Record<string, () => Partial<AuthModuleOptions> | Promise<object>> = {
  twoFactor: () => ({ features: { twoFactor: true } }),
  passkeys: () => ({
    features: { passkeys: true },
    passkeys: { rpId: 'localhost', origins: ['http://localhost:3000'] },
  }),
  rules: () => ({ features: { registration: true }, registration: { rules: class Applicant {} } }),
  bcrypt: () => ({ hashing: { verifiers: [bcryptVerifier()] } }),
  // A separate entry point of the package.
  console: () => import('@svc/auth/console').then(() => ({})),
  mail: () => ({ mail: { mailer: nodemailerMailer('smtp://localhost', 'us@example.com') } }),
};

type Cache = NonNullable<AuthModuleOptions['cache']>;

function hostWith(cache: Cache, options: Partial<AuthModuleOptions>): new () => object {
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
        // Other tests have revoked tokens with the same ids.
        keyPrefix: `${randomUUID()}:`,
        ...options,
      }),
    ],
    controllers: [Me],
  })
  class Host {}
  return Host;
}

function create(cache: Cache, options: Partial<AuthModuleOptions> = {}) {
  const adapter = (fastify ? new FastifyAdapter() : new ExpressAdapter()) as unknown as AbstractHttpAdapter;
  return NestFactory.create(hostWith(cache, options), adapter, { logger: false, abortOnError: false });
}

/** The error message of the start of the application for each feature. */
async function refusals(cache: Cache): Promise<Record<string, string>> {
  const messages: Record<string, string> = {};
  for (const [name, options] of Object.entries(FEATURES)) {
    try {
      await create(cache, await options());
    } catch (error) {
      messages[name] = (error as Error).message;
    }
  }
  return messages;
}

async function main(): Promise<void> {
  const cache = await createClient({ url: redisUrl }).connect();
  process.once('disconnect', () => process.exit());
  if (!email) return void process.send!(await refusals(cache));

  const app = await create(cache);
  await app.listen(0, '127.0.0.1');
  const passwordHash = await app.get(PasswordHasher).hash('correct-horse-battery');
  await app.get(DataSource).getRepository(Person).save({ email, passwordHash });
  process.send!(await app.getUrl());
}

main().catch((error: Error) => {
  console.error(error.message);
  process.exit(1);
});
