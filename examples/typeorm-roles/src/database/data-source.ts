import 'reflect-metadata';
import { authEntities, authMigrations } from '@svc/auth';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { RoleEntity } from '../roles/role.entity.js';
import { SessionEntity } from '../session/session.entity.js';
import { StatusEntity } from '../statuses/status.entity.js';
import { UserEntity } from '../users/entities/user.entity.js';
import { CreateUser1715028537217 } from './migrations/1715028537217-CreateUser.js';
import { AdoptAuth1795000000000 } from './migrations/1795000000000-AdoptAuth.js';

export const dataSourceOptions: DataSourceOptions = {
  type: 'postgres',
  url: process.env.DATABASE_URL,
  synchronize: false,
  entities: [RoleEntity, StatusEntity, UserEntity, SessionEntity, ...authEntities],
  migrations: [CreateUser1715028537217, ...authMigrations, AdoptAuth1795000000000],
};

export const AppDataSource = new DataSource(dataSourceOptions);
