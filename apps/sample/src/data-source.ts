import { addTwoFactorColumns, authEntities, authMigrations } from '@svc/auth';
import type { DataSourceOptions } from 'typeorm';
import { AddAdminRole1764900000000 } from './migrations/1764900000000-add-admin-role';
import { AddEmailVerified1763800100000 } from './migrations/1763800100000-add-email-verified';
import { AddLanguageAndStaff1763950100000 } from './migrations/1763950100000-add-language-and-staff';
import { CreateSample1763700100000 } from './migrations/1763700100000-create-sample';
import { Order } from './orders/order.entity';
import { Admin } from './users/admin.entity';
import { StaffMember } from './users/staff-member.entity';
import { User } from './users/user.entity';

/** The sample's tables and the library's, in one data source. */
export const dataSourceOptions = (url: string) =>
  ({
    type: 'postgres',
    url,
    entities: [...authEntities, User, Admin, StaffMember, Order],
    migrations: [
      ...authMigrations,
      CreateSample1763700100000,
      AddEmailVerified1763800100000,
      addTwoFactorColumns('users', 1763900100000),
      addTwoFactorColumns('admins', 1763900200000),
      AddLanguageAndStaff1763950100000,
      AddAdminRole1764900000000,
    ],
    installExtensions: false,
    uuidExtension: 'pgcrypto',
  }) satisfies DataSourceOptions;
