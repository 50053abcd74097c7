// User entities of the kinds that hosts have, for the tests of the user provider.
import { withAuthColumns } from '@svc/auth';
import {
  AfterLoad,
  ChildEntity,
  Column,
  Entity,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  TableInheritance,
  VirtualColumn,
} from 'typeorm';
import { AllColumnTypes } from './all-column-types';

@Entity('by_uuid')
export class ByUuid extends withAuthColumns() {
  @PrimaryGeneratedColumn('uuid')
  id!: string;
}

@Entity('by_int')
export class ByInt extends withAuthColumns() {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;
}

@Entity('by_bigint')
export class ByBigint extends withAuthColumns() {
  @PrimaryGeneratedColumn('identity', { type: 'bigint' })
  id!: string;
}

@Entity('by_name')
export class ByName extends withAuthColumns() {
  @PrimaryColumn('text')
  id!: string;
}

const prefixed = { to: (id: string) => id.replace(/^usr_/, ''), from: (id: string) => `usr_${id}` };

/** The stored ids differ from the ids that the host uses. */
@Entity('by_alias')
export class ByAlias extends withAuthColumns() {
  @PrimaryColumn('text', { transformer: prefixed })
  id!: string;
}

@Entity('teams')
export class Team {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;

  @Column('text')
  name!: string;
}

@Entity('eager')
export class Eager extends withAuthColumns() {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;

  @ManyToOne(() => Team, { eager: true })
  team!: Team;
}

class Address {
  @Column('text')
  city!: string;
}

@Entity('embedding')
export class Embedding extends withAuthColumns() {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;

  @Column(() => Address)
  address!: Address;
}

@Entity('crew')
@TableInheritance({ column: { type: 'text', name: 'kind' } })
export class Crew extends withAuthColumns() {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;
}

@ChildEntity('captain')
export class Captain extends Crew {
  @Column('text', { nullable: true })
  ship!: string;
}

@Entity('greeting')
export class Greeting extends withAuthColumns() {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;

  greeting?: string;

  @AfterLoad()
  greet(): void {
    this.greeting = `Hello ${this.email}`;
  }
}

@Entity('counting')
export class Counting extends withAuthColumns() {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;

  @VirtualColumn({ query: (alias) => `SELECT length(${alias}.email)` })
  length?: number;
}

/** Without `withAuthColumns`: the host's own identifier, hash column and case rule. */
@Entity('plain')
export class Plain {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;

  @Column('text', { unique: true })
  handle!: string;

  @Column('text', { nullable: true })
  passwordHash?: string | null;
}

@Entity('in_teams')
export class InTeam extends withAuthColumns() {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;

  @ManyToOne(() => Team)
  team?: Team;
}

@Entity('lazily_in_teams')
export class LazilyInTeam extends withAuthColumns() {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;

  @ManyToOne(() => Team, { lazy: true })
  team?: Promise<Team>;
}

const numbered = { to: (id: string) => Number(id.slice(4)), from: (id: number) => `usr_${id}` };

@Entity('by_numbered_alias')
export class ByNumberedAlias extends withAuthColumns() {
  @PrimaryColumn('int', { transformer: numbered })
  id!: string;
}

@Entity('binary_users')
export class Binary extends withAuthColumns() {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;

  @Column('bytea')
  avatar!: Buffer;

  @Column('interval')
  naps!: object;

  @Column('jsonb')
  settings!: { theme: string };
}

@Entity('staff')
export class Staff {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;

  @Column('int')
  staffNumber!: number;

  @Column('text', { nullable: true })
  passwordHash?: string;
}

export const ACCOUNTS = [
  ByUuid,
  ByInt,
  ByBigint,
  ByName,
  ByAlias,
  Team,
  AllColumnTypes,
  Eager,
  Embedding,
  Crew,
  Captain,
  Greeting,
  Counting,
  Plain,
  InTeam,
  LazilyInTeam,
  ByNumberedAlias,
  Binary,
  Staff,
];
