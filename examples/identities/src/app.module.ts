import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, authEntities, authMigrations } from '@svc/auth';
import { AppController } from './app.controller.js';
import { providers } from './providers.js';
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
      features: { registration: true, identities: true },
      identities: { providers },
      secret: process.env.SVC_SECRET,
      cookieMode: true,
      // Without TLS, as on this machine. In production the library accepts only a cookie with Secure.
      cookie: { secure: process.env.NODE_ENV === 'production' },
      // Without Redis the denylist is in the memory of this process: enough to try it, refused in production.
      redis: { url: process.env.REDIS_URL },
    }),
  ],
  controllers: [AppController],
})
export class AppModule {}
