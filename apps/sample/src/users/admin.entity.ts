import { withAuthColumns, withTwoFactorColumns } from '@svc/auth';
import { Entity, PrimaryGeneratedColumn } from 'typeorm';

/** An operator: signs in at `admin/auth`, guard `admin`. Another table, so no customer is ever one. */
@Entity('admins')
export class Admin extends withTwoFactorColumns(withAuthColumns()) {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'admins_pkey' })
  id!: string;
}
