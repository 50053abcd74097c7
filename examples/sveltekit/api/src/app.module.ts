import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, authEntities, authMigrations } from '@svc/auth';
import { AppController } from './app.controller.js';
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
      secret: process.env.SVC_SECRET,
      cookieMode: true,
      // A page whose answer is lost, for example when the reader leaves it, does not end the session.
      sessions: { unusedSuccessorSeconds: 300 },
      // All requests of the server for pages come from one address.
      rateLimits: { refresh: { by: 'session' } },
      // Without Redis the denylist is in the memory of this process: enough to try it, refused in production.
      redis: { url: process.env.REDIS_URL },
    }),
  ],
  controllers: [AppController],
})
export class AppModule {}
