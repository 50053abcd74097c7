import { withAuthColumns, withTwoFactorColumns } from '@svc/auth';
import { Entity, PrimaryGeneratedColumn } from 'typeorm';

/** An operator, who signs in at `admin/auth` (guard `admin`). Customers are in another table. */
@Entity('admins')
export class Admin extends withTwoFactorColumns(withAuthColumns()) {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'admins_pkey' })
  id!: string;
}
