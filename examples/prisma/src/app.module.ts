import { Module } from '@nestjs/common';
import { AuthModule } from '@svc/auth';
import { AppController } from './app.controller.js';
import { Database } from './database.js';
import { PrismaUsers } from './users.js';

@Module({
  providers: [Database, PrismaUsers],
  exports: [Database, PrismaUsers],
})
export class UsersModule {}

@Module({
  imports: [
    AuthModule.forRootAsync({
      imports: [UsersModule],
      users: { provider: { useExisting: PrismaUsers } },
      pool: {
        useFactory: (database: Database) => database.pool,
        inject: [Database],
      },
      features: { registration: true, twoFactor: true },
      useFactory: () => ({
        secret: process.env.SVC_SECRET,
        encryption: { key: process.env.SVC_ENCRYPTION_KEY },
        // Without Redis the denylist is in the memory of this process: enough to try it, refused in production.
        redis: { url: process.env.REDIS_URL },
      }),
    }),
  ],
  controllers: [AppController],
})
export class AppModule {}
