import { withAuthColumns, withTwoFactorColumns } from '@svc/auth';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** A customer, who signs in at `auth` (guard `api`). */
@Entity('users')
export class User extends withTwoFactorColumns(withAuthColumns()) {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'users_pkey' })
  id!: string;

  @Column({ type: 'text' })
  name!: string;

  /** `@RequireVerifiedEmail()` and `email_verified` read it. */
  @Column({ name: 'email_verified_at', type: 'timestamptz', nullable: true })
  emailVerifiedAt!: Date | null;

  /** The language of the user's mails, as a tag. Null until the user has chosen one. */
  @Column({ type: 'text', nullable: true })
  language!: string | null;
}
