import { type DynamicModule, type MiddlewareConsumer, Module, type NestModule } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { ThrottlerModule } from '@nestjs/throttler';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, SharedThrottlerStorage } from '@svc/auth';
import { PROVIDER, authOptions, sampleOptions } from './auth.options';
import { dataSourceOptions } from './data-source';
import type { Environment } from './environment';
import { HealthController } from './health/health.controller';
import { Order } from './orders/order.entity';
import { OrdersController } from './orders/orders.controller';
import { Admin } from './users/admin.entity';
import { AdminController } from './users/admin.controller';
import { StaffMember } from './users/staff-member.entity';
import { StaffController } from './users/staff.controller';
import { RequestedLanguage, UserLanguages } from './users/user-language';
import { User } from './users/user.entity';
import { UserController } from './users/user.controller';
import { WebModule } from './web/web.module';

/** Each route answers 120 requests a minute from one client. */
const PER_CLIENT = { ttl: 60_000, limit: 120 };

@Module({
  controllers: [HealthController, UserController, OrdersController, StaffController, AdminController],
  providers: [UserLanguages],
})
export class AppModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    const created = [
      'auth/register',
      'auth/register/passkey',
      'auth/identities/register',
      `auth/identities/${PROVIDER}/callback`,
    ];
    consumer.apply(RequestedLanguage).forRoutes(...created);
  }

  static forEnvironment(environment: Environment, databaseUrl: string): DynamicModule {
    const options = sampleOptions(environment);
    return {
      module: AppModule,
      imports: [
        TypeOrmModule.forRoot({
          ...dataSourceOptions(databaseUrl),
          migrationsRun: environment.migrationsRun,
          // The start has waited for the database: `waitForStores`.
          retryAttempts: 0,
        }),
        TypeOrmModule.forFeature([User, Admin, StaffMember, Order]),
        TerminusModule,
        AuthModule.forRootAsync(authOptions(environment, options)),
        // Limits the controllers with `@UseGuards(ThrottlerGuard)`. The routes of the library have their own limits.
        ThrottlerModule.forRootAsync({
          inject: [SharedThrottlerStorage],
          useFactory: (storage: SharedThrottlerStorage) => ({ throttlers: [PER_CLIENT], storage }),
        }),
        WebModule.forPage(environment),
      ],
    };
  }
}
