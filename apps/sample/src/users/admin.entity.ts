import { withAuthColumns, withTwoFactorColumns } from '@svc/auth';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { AdminRole } from './admin-role';

/** An operator, who signs in at `admin/auth` (guard `admin`), and helps customers at `/support`. Customers are in another table. */
@Entity('admins')
export class Admin extends withTwoFactorColumns(withAuthColumns()) {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'admins_pkey' })
  id!: string;

  /** What the operator may do: see {@link abilitiesOf}. */
  @Column({ type: 'text', default: 'support' })
  role!: AdminRole;
}
