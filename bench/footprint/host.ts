// One application without the library, with it, and with all features. Compiled beforehand, run in its own process.
import 'reflect-metadata';
import { Controller, type DynamicModule, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { AuthModuleOptions } from '@svc/auth';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Column, CreateDateColumn, DeleteDateColumn, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { redisCache } from '../../apps/sample/src/redis-cache';

type Library = typeof import('@svc/auth');

/** Memory after garbage collection in bytes. */
export interface Memory {
  rss: number;
  heapUsed: number;
}

/** The report of the process when it listens. */
export interface Started extends Memory {
  port: number;
  /** Milliseconds from the import of the library, or the same place without it, to the end of `app.listen`. */
  startMs: number;
  /** Processor time of all threads in this period. */
  cpuMs: number;
  token: string;
}

@Entity('members')
class Member {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column({ type: 'text' })
  name!: string;

  @Column({ type: 'text', unique: true })
  email!: string;

  @Column({ name: 'password_hash', type: 'text', nullable: true, select: false })
  passwordHash!: string | null;

  @Column({ name: 'email_verified_at', type: 'timestamptz', nullable: true })
  emailVerifiedAt!: Date | null;

  @Column({ name: 'two_factor_secret', type: 'text', nullable: true, select: false })
  twoFactorSecret!: string | null;

  @Column({ name: 'two_factor_recovery_codes', type: 'text', nullable: true, select: false })
  twoFactorRecoveryCodes!: string | null;

  @Column({ name: 'two_factor_confirmed_at', type: 'timestamptz', nullable: true })
  twoFactorConfirmedAt!: Date | null;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  @DeleteDateColumn({ name: 'deleted_at', type: 'timestamptz' })
  deletedAt!: Date | null;
}

const everything = ({ nodemailerMailer }: Library): Partial<AuthModuleOptions> => ({
  features: {
    abilities: true,
    twoFactor: true,
    lockout: true,
    passkeys: true,
    emailVerification: true,
    passwordReset: true,
    registration: true,
  },
  encryption: { key: 'key-of-encryption-at-rest-of-the-footprint-0123' },
  passkeys: { rpId: 'example.com', origins: ['https://example.com'] },
  mail: { mailer: nodemailerMailer('smtp://localhost', 'us@example.com') },
  emailVerification: { apiUrl: 'https://api.example.com', frontendUrl: 'https://example.com/verified' },
  passwordReset: { frontendUrl: 'https://example.com/reset' },
});

async function moduleWith(library: Library | undefined): Promise<DynamicModule> {
  const { cache } = await redisCache(process.env.REDIS_URL!);
  const route = Object.getOwnPropertyDescriptor(Routes.prototype, 'guarded')!;
  library?.Authenticated()(Routes.prototype, 'guarded', route);
  const auth = library?.AuthModule.forRoot({
    secret: 'secret-of-the-application-0123456789-0123456789',
    issuer: 'https://bench.test',
    audience: 'https://bench.test',
    users: { entity: Member },
    cache,
    // A busy machine must not cause a timeout.
    storeTimeoutMs: 30_000,
    ...(process.env.VARIANT === 'all' && everything(library)),
  });
  const entities = [Member, ...(library?.authEntities ?? [])];
  return {
    module: Host,
    imports: [
      TypeOrmModule.forRoot({ type: 'postgres', url: process.env.DATABASE_URL, entities, installExtensions: false }),
      ...(auth ? [auth] : []),
    ],
    controllers: [Routes],
    providers: [{ provide: 'CACHE', useValue: cache }],
  };
}

@Controller()
class Routes {
  @Get('guarded')
  guarded() {
    return { ok: true };
  }
}

@Module({})
class Host {}

async function memory(): Promise<Memory> {
  for (let i = 0; i < 5; i++) {
    globalThis.gc!();
    await sleep(50);
  }
  const { rss, heapUsed } = process.memoryUsage();
  return { rss, heapUsed };
}

async function main(): Promise<void> {
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  const library = process.env.VARIANT === 'without' ? undefined : await import('@svc/auth');
  const app = await NestFactory.create(await moduleWith(library), { logger: ['error', 'warn'] });
  await app.listen(0, '127.0.0.1');
  const startMs = performance.now() - start;
  process.once('disconnect', () => process.exit());
  if (process.env.COLD) return void process.send!({ port: (app.getHttpServer().address() as AddressInfo).port });
  const { user, system } = process.cpuUsage(cpu);
  const { port } = app.getHttpServer().address() as AddressInfo;
  const started = { port, startMs, cpuMs: (user + system) / 1000, ...(await memory()) };
  const token = library
    ? (await app.get(library.Auth).startSession(process.env.MEMBER!)).accessToken
    : process.env.TOKEN_LIKE!;
  process.on('message', () => void memory().then((now) => process.send!(now)));
  process.send!({ ...started, token } satisfies Started);
}

void main();
