import { type DynamicModule, Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, type Limiter, authOptionsFromEnv } from '@svc/auth';
import { CacheModule, SharedCache } from './cache.module';
import { dataSourceOptions } from './data-source';
import type { Environment } from './environment';
import { HealthController } from './health/health.controller';
import { Mailbox, mailerFor } from './mail/mailbox';
import { MailboxController } from './mail/mailbox.controller';
import { Order } from './orders/order.entity';
import { OrdersController } from './orders/orders.controller';
import { Admin } from './users/admin.entity';
import { AdminController } from './users/admin.controller';
import { deleteUser } from './users/delete-user';
import { Seed } from './users/seed';
import { User } from './users/user.entity';
import { UserController } from './users/user.controller';
import { PageConfig } from './web/page-config';
import { WebController } from './web/web.controller';

const sixAMinute: Limiter = (_, { guard, userId }) => ({
  key: `${guard} ${userId}`,
  maxAttempts: 6,
  decaySeconds: 60,
});

@Module({})
export class AppModule {
  /** @param retryAttempts how often a database that does not answer yet is tried again */
  static forEnvironment(environment: Environment, databaseUrl: string, retryAttempts = 9): DynamicModule {
    const { redisUrl, url } = environment;
    const mailer = mailerFor(environment);
    // Without a mail server nobody could verify an address or reset a password.
    const life = mailer && { registration: true, emailVerification: true, passwordReset: true };
    const { features: switched, domain, ...values } = authOptionsFromEnv();
    const features = { lockout: true, twoFactor: true, ...life, ...switched };
    const admin = authOptionsFromEnv(process.env, 'admin');
    return {
      module: AppModule,
      imports: [
        TypeOrmModule.forRoot({ ...dataSourceOptions(databaseUrl), migrationsRun: true, retryAttempts }),
        TypeOrmModule.forFeature([User, Admin, Order]),
        TerminusModule,
        AuthModule.forRootAsync({
          features,
          domain,
          users: { entity: User },
          guards: {
            admin: { audience: 'https://admin.example.com', ...admin, path: 'admin/auth', users: { entity: Admin } },
          },
          imports: [CacheModule.on(redisUrl)],
          inject: [SharedCache],
          useFactory: ({ cache }: SharedCache) => ({
            appName: 'Orders',
            ...values,
            cache,
            // Signed in with a password a customer may do everything with orders; a pinned session what it was given.
            hooks: { abilities: (_, { guard }) => (guard === 'api' ? ['orders.*'] : []), deleteUser },
            mail: { mailer },
            passwordReset: { frontendUrl: `${url}/reset-password`, ...values.passwordReset },
            emailVerification: { apiUrl: url, frontendUrl: `${url}/verified`, ...values.emailVerification },
            rateLimits: { ...values.rateLimits, limiters: { export: sixAMinute } },
          }),
        }),
      ],
      controllers: [
        HealthController,
        UserController,
        AdminController,
        OrdersController,
        WebController,
        ...(mailer instanceof Mailbox ? [MailboxController] : []),
      ],
      providers: [
        Seed,
        { provide: PageConfig, useValue: new PageConfig(environment, { ...values, features }) },
        ...(mailer instanceof Mailbox ? [{ provide: Mailbox, useValue: mailer }] : []),
      ],
    };
  }
}
