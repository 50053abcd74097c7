import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, authEntities, authMigrations } from '@svc/auth';
import { OrdersController } from './orders.controller.js';
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
      features: { registration: true, accessKeys: true },
      accessKeys: { prefix: 'shop' },
      // What a user may do. A key may do at most as much.
      hooks: { abilities: () => ['orders.*'] },
      secret: process.env.SVC_SECRET,
      redis: { url: process.env.REDIS_URL },
    }),
  ],
  controllers: [OrdersController],
})
export class AppModule {}
