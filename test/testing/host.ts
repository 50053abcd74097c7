import { Controller, Delete, type DynamicModule, Get, HttpCode, Module, Post } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  Abilities,
  AuthModule,
  Authenticated,
  type Mailer,
  RequireConfirmation,
  RequireRecentLogin,
  authEntities,
  withAuthColumns,
  withTwoFactorColumns,
} from '@svc/auth';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { ADMIN_AUDIENCE, ENCRYPTION_KEY, SECRET } from '../support/hosts/host.module';
import { Operator } from '../support/hosts/user-entities';

/** The table of members with the columns that this host uses. */
@Entity('members')
export class User extends withTwoFactorColumns(withAuthColumns()) {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column({ type: 'text' })
  name!: string;

  @Column({ name: 'email_verified_at', type: 'timestamptz', nullable: true })
  emailVerifiedAt!: Date | null;
}

@Controller('orders')
@Authenticated()
class OrdersController {
  @Get()
  @Abilities('orders.read')
  list() {
    return [];
  }

  @Post()
  @Abilities('orders.write')
  place() {
    return {};
  }

  @Delete()
  @HttpCode(204)
  @RequireConfirmation()
  cancel() {}

  @Get('history')
  @RequireRecentLogin(3600)
  history() {
    return [];
  }
}

@Controller('reports')
@Authenticated('admin')
class ReportsController {
  @Get()
  list() {
    return [];
  }
}

/** A host application without the host module of the library's tests. */
@Module({})
export class AppModule {
  static on(url: string, mailer: Mailer): DynamicModule {
    return {
      module: AppModule,
      imports: [
        TypeOrmModule.forRoot({ type: 'postgres', url, entities: [...authEntities, User, Operator], retryAttempts: 0 }),
        AuthModule.forRoot({
          secret: SECRET,
          encryption: { key: ENCRYPTION_KEY },
          hashing: { memoryCost: 64, timeCost: 1 },
          users: { entity: User },
          guards: { admin: { path: 'admin/auth', audience: ADMIN_AUDIENCE, users: { entity: Operator } } },
          features: { registration: true, emailVerification: true, twoFactor: true, passkeys: true },
          passkeys: { rpId: 'example.com', origins: ['https://app.example.com'] },
          emailVerification: { apiUrl: 'https://api.example.com' },
          hooks: { abilities: () => ['orders.*'] },
          mail: { mailer },
        }),
      ],
      controllers: [OrdersController, ReportsController],
    };
  }
}
