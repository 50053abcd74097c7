import { withAuthColumns, withTwoFactorColumns } from '@svc/auth';
import { Column, CreateDateColumn, DeleteDateColumn, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** Users of the default guard. Ids start at 1 in both tables, so that ids of the two guards collide. */
@Entity('people')
export class Person extends withTwoFactorColumns(withAuthColumns()) {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;
}

/** The same users with the state that `@RequireVerifiedEmail()` reads. */
@Entity('people')
export class VerifiablePerson extends withTwoFactorColumns(withAuthColumns()) {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;

  @Column({ name: 'email_verified_at', type: 'timestamptz', nullable: true })
  emailVerifiedAt!: Date | null;
}

/** Users of the guard `admin`. */
@Entity('operators')
export class Operator extends withTwoFactorColumns(withAuthColumns()) {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;
}

/** Users with the columns for the complete account life cycle: name, verification and deletion. */
@Entity('members')
export class Member extends withTwoFactorColumns(withAuthColumns()) {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column({ type: 'text' })
  name!: string;

  @Column({ type: 'text', default: 'customer' })
  role!: string;

  @Column({ name: 'email_verified_at', type: 'timestamptz', nullable: true })
  emailVerifiedAt!: Date | null;

  /** Distinguishes members that hooks.register creates from existing ones. */
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  @DeleteDateColumn({ name: 'deleted_at', type: 'timestamptz' })
  deletedAt!: Date | null;
}

export const ADA = 'ada@example.com';
export const PASSWORD = 'correct-horse-battery';
