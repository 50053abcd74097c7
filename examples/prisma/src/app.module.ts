import { Module } from '@nestjs/common';
import { AuthModule } from '@svc/auth';
import { AppController } from './app.controller.js';
import { Database } from './database.js';
import { usersOf } from './users.js';

@Module({ providers: [Database], exports: [Database] })
export class DatabaseModule {}

@Module({
  imports: [
    AuthModule.forRootAsync({
      imports: [DatabaseModule],
      users: { provider: { useFactory: usersOf, inject: [Database] } },
      pool: {
        useFactory: (database: Database) => database.pool,
        inject: [Database],
      },
      features: { registration: true, twoFactor: true },
      useFactory: () => ({
        secret: process.env.SVC_SECRET,
        encryption: { key: process.env.SVC_ENCRYPTION_KEY },
        // Without Redis the denylist is in memory, which production refuses.
        redis: { url: process.env.REDIS_URL },
      }),
    }),
  ],
  controllers: [AppController],
})
export class AppModule {}
