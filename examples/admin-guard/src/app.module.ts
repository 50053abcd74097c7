import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
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
      useFactory: (source: DataSource) => ({
        secret: process.env.SVC_SECRET,
        // Without Redis the denylist is in the memory of this process: enough to try it, refused in production.
        redis: { url: process.env.REDIS_URL },
        audience: 'https://shop.example.com',
        guards: {
          staff: {
            // Guards may share a secret, but no audience.
            audience: 'https://staff.example.com',
            accessTtl: 300,
            // The staff page is of this origin, so no script needs to read the refresh token.
            cookieMode: true,
            // Without TLS, as on this machine. In production the library accepts only a cookie with Secure.
            cookie: { secure: process.env.NODE_ENV === 'production' },
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
