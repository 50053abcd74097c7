import { type DynamicModule, Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '@svc/auth';
import { authOptions } from './auth.options';
import { dataSourceOptions } from './data-source';
import type { Environment } from './environment';
import { HealthController } from './health/health.controller';
import { Order } from './orders/order.entity';
import { OrdersController } from './orders/orders.controller';
import { Admin } from './users/admin.entity';
import { AdminController } from './users/admin.controller';
import { User } from './users/user.entity';
import { UserController } from './users/user.controller';
import { WebModule } from './web/web.module';

@Module({ controllers: [HealthController, UserController, AdminController, OrdersController] })
export class AppModule {
  /** @param retryAttempts how many times a failed connection to the database is tried again */
  static forEnvironment(environment: Environment, databaseUrl: string, retryAttempts = 9): DynamicModule {
    const auth = authOptions(environment);
    return {
      module: AppModule,
      imports: [
        TypeOrmModule.forRoot({ ...dataSourceOptions(databaseUrl), migrationsRun: true, retryAttempts }),
        TypeOrmModule.forFeature([User, Admin, Order]),
        TerminusModule,
        AuthModule.forRootAsync(auth),
        WebModule.forPage(environment, auth.features),
      ],
    };
  }
}
