import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, authEntities, authMigrations } from '@svc/auth';
import { CreateUsers1795000000000, User } from './users.js';

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env.DATABASE_URL,
      entities: [...authEntities, User],
      migrations: [...authMigrations, CreateUsers1795000000000],
      migrationsRun: true,
    }),
    AuthModule.forRoot({
      users: { entity: User },
      features: { registration: true },
      // Only this service can sign. It publishes the public key at /auth/jwks.
      algorithm: 'ES256',
      keys: { active: 'k1', private: 'keys/private.pem', public: { k1: 'keys/public.pem' } },
      // The refresh tokens are derived from it. The other service does not have it.
      secret: process.env.SVC_SECRET,
      issuer: 'https://api.example.com',
      // A token is valid at both services.
      audience: ['https://api.example.com', 'https://reports.example.com'],
      hooks: { abilities: () => ['reports.read'] },
      redis: { url: process.env.REDIS_URL ?? 'redis://localhost:6379' },
    }),
  ],
})
export class AppModule {}
