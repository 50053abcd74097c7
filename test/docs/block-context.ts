// The context of documentation fragments: the library, the usual names of Nest and TypeORM, and a host.
import type { AuthModuleOptions, Mailer, PasswordHasher, UserProvider } from '@svc/auth';
import { withAuthColumns, withTwoFactorColumns } from '@svc/auth';
import type { Auth, AuthAsyncValues, SecurityStore } from '@svc/auth';
import type { INestApplication, Type } from '@nestjs/common';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { DataSourceOptions, EntityManager, Repository } from 'typeorm';

export * from '@svc/auth';
export { AuthConsoleModule } from '@svc/auth/console';
import type { VerifiedKey } from '@svc/auth/access-keys';
export { AcceptsKeys } from '@svc/auth/access-keys';
export { apple, github, gitlab, google, keycloak, microsoft, oidc } from '@svc/auth/identities';
export { describeAuth } from '@svc/auth/openapi';
export { clusterStore } from '@svc/auth/redis-cluster';
export { userProviderContract } from '@svc/auth/testing';
export { readFile } from 'node:fs/promises';
export { describe, it } from 'node:test';
export { Pool } from 'pg';
export { Body, Controller, Delete, Get, Injectable, Module, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
export { APP_GUARD, NestFactory } from '@nestjs/core';
import type { Request, Response } from 'express';
export type { Request, Response };
export type { NestExpressApplication } from '@nestjs/platform-express';
export { OnEvent } from '@nestjs/event-emitter';
export { Mutation, Query, Resolver } from '@nestjs/graphql';
export { FastifyAdapter } from '@nestjs/platform-fastify';
export { MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
export { HealthCheck, HealthCheckService } from '@nestjs/terminus';
export { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
export { TypeOrmModule } from '@nestjs/typeorm';
export { redisStore } from 'cache-manager-redis-yet';
export { createCluster } from '@redis/client';
export { Column, DataSource, type DataSourceOptions, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity('users')
export class User extends withTwoFactorColumns(withAuthColumns()) {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column({ type: 'text' })
  name!: string;

  @Column({ name: 'email_verified_at', type: 'timestamptz', nullable: true })
  emailVerifiedAt!: Date | null;
}

@Entity('admins')
export class Admin extends User {}

@Entity('orders')
export class Order {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column({ type: 'uuid' })
  userId!: string;
}

export declare const UsersOfTheMainService: Type<UserProvider>;
export declare const MyUsers: Type<UserProvider>;
export declare class UsersModule {}
export declare class CreateUsers1795000000000 {
  up(): Promise<void>;
  down(): Promise<void>;
}
export declare class AppModule {}
// Of typeorm-transactional and of @nestjs-cls/transactional with its adapter for TypeORM.
export declare function Transactional(): MethodDecorator;
export declare class TransactionalAdapterTypeOrm {
  readonly tx: EntityManager;
}
export declare class TransactionHost<Adapter extends { readonly tx: unknown }> {
  readonly tx: Adapter['tx'];
}

export declare function askIssuer(key: string, ip: string | null): Promise<VerifiedKey | null>;
export declare function fetchScannerKeys(): Promise<Record<string, string>>;

/** Members of a class of which a page shows only a part. */
export interface UnshownMembers {
  alarm(familyId: string): void;
}

export declare const app: INestApplication;
export declare const provider: { verify(code: string, userId: string): Promise<void> };
export declare const audience: string;
export declare const auth: Auth;
export declare function waitUntil(work: Promise<unknown>): void;
export declare const cache: SecurityStore;
export declare const customers: { create(fields: object): Promise<object | null> };
export declare const hasher: PasswordHasher;
export declare const k1: string;
export declare const mailer: Mailer;
export declare const options: DataSourceOptions;
export declare const roles: { of(userId: string): Promise<{ abilities: string[] }> };
export declare const secret: string;
export declare const clientId: string;
export declare const clientSecret: string;
export declare const privateKey: string;
export declare const url: string;
export declare const user: User;
export declare const users: Repository<User & { nickname?: unknown }>;
export declare const values: AuthAsyncValues & Pick<AuthModuleOptions, 'users'>;
