import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { createClient } from '@redis/client';
import { AuthModule, authEntities, authMigrations } from '@svc/auth';
import { DataSource } from 'typeorm';
import { CreateAccounts1795000000000, Customer, StaffMember } from './accounts.js';
import { OrdersController } from './orders.controller.js';
import { StaffController } from './staff.controller.js';

const ABILITIES = { support: ['customers.read'], admin: ['customers.*'] };

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env.DATABASE_URL,
      entities: [...authEntities, Customer, StaffMember],
      migrations: [...authMigrations, CreateAccounts1795000000000],
      migrationsRun: true,
    }),
    AuthModule.forRootAsync({
      // The top level is the default guard, here that of the customers.
      users: { entity: Customer },
      features: { registration: true },
      guards: { staff: { path: 'staff/auth', users: { entity: StaffMember } } },
      inject: [DataSource],
      useFactory: async (source: DataSource) => ({
        secret: process.env.SVC_SECRET,
        cache: process.env.REDIS_URL ? await createClient({ url: process.env.REDIS_URL }).connect() : undefined,
        audience: 'https://shop.example.com',
        guards: {
          staff: {
            // Guards may share a secret, but no audience.
            audience: 'https://staff.example.com',
            accessTtl: 300,
            hooks: {
              abilities: async (id) => {
                const member = await source.getRepository(StaffMember).findOneByOrFail({ id: Number(id) });
                return ABILITIES[member.role];
              },
            },
          },
        },
      }),
    }),
  ],
  controllers: [OrdersController, StaffController],
})
export class AppModule {}
