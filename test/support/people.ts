import { withAuthColumns, withTwoFactorColumns } from '@svc/auth';
import { Entity, PrimaryGeneratedColumn } from 'typeorm';

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

export const PASSWORD = 'correct-horse-battery';
