import { withAuthColumns, withTwoFactorColumns } from '@svc/auth';
import { Column, CreateDateColumn, DeleteDateColumn, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** Users of the default guard. Ids count from 1, so that those of the two tables collide. */
@Entity('people')
export class Person extends withTwoFactorColumns(withAuthColumns()) {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;
}

/** Users of the guard `admin`. */
@Entity('operators')
export class Operator extends withTwoFactorColumns(withAuthColumns()) {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;
}

/** Users whose account has a whole life: named, verified, marked as deleted. */
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

  /** Tells hooks.register new members from old ones. */
  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  @DeleteDateColumn({ name: 'deleted_at', type: 'timestamptz' })
  deletedAt!: Date | null;
}

export const PASSWORD = 'correct-horse-battery';
