// User entities of every make that hosts have, for the tests of the user provider.
import { withAuthColumns } from '@svc/auth';
import {
  AfterLoad,
  ChildEntity,
  Column,
  CreateDateColumn,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  type Relation,
  TableInheritance,
  UpdateDateColumn,
  VersionColumn,
  VirtualColumn,
} from 'typeorm';

export enum Mood {
  Calm = 'calm',
  Cross = 'cross',
}

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

@Entity('teams')
export class Team {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;

  @Column('text')
  name!: string;

  @OneToMany(() => Rich, (rich) => rich.team)
  members?: Relation<Rich>[];
}

const reversed = {
  to: (text: string) => [...text].toReversed().join(''),
  from: (text: string) => [...text].toReversed().join(''),
};
const shouted = { to: (text: string) => text.toLowerCase(), from: (text: string) => text.toUpperCase() };
const money = { to: (cents: bigint) => String(cents), from: (text: string) => BigInt(text) };

/** An entity of ordinary columns only, of all kinds; it lives in another schema, under an awkward name. */
@Entity({ name: 'Rich "people"', schema: 'crm' })
export class Rich extends withAuthColumns() {
  @PrimaryGeneratedColumn('uuid', { name: 'Person-Id' })
  id!: string;

  @Column('numeric', { precision: 14, scale: 4 })
  balance!: string;

  @Column('bigint', { transformer: money })
  cents!: bigint;

  @Column('bigint')
  visits!: string;

  @Column('double precision')
  ratio!: number;

  @Column('boolean')
  active!: boolean;

  @Column('date')
  birthday!: string;

  @Column('timestamptz')
  seenAt!: Date;

  @Column('timestamp')
  localAt!: Date;

  @Column('time')
  wakesAt!: string;

  @Column('interval')
  naps!: object;

  @Column('jsonb')
  settings!: object;

  @Column('jsonb', { nullable: true })
  nothing!: object | null;

  @Column('simple-json')
  simple!: object;

  @Column('simple-array')
  tags!: string[];

  @Column('text', { array: true })
  names!: string[];

  @Column('int', { array: true, nullable: true })
  scores!: number[] | null;

  @Column('timestamptz', { array: true })
  logins!: Date[];

  @Column('enum', { enum: Mood })
  mood!: Mood;

  @Column('enum', { enum: Mood, array: true })
  moods!: Mood[];

  @Column('simple-enum', { enum: Mood })
  humour!: Mood;

  @Column('bytea')
  avatar!: Buffer;

  @Column('inet')
  address!: string;

  @Column('point')
  home!: object;

  @Column('text', { transformer: reversed })
  mirrored!: string;

  @Column('text', { transformer: [shouted, reversed], name: 'we"ird name' })
  loud!: string;

  @Column('text', { select: false, default: 'not for everyone' })
  secret?: string;

  @Column('text', { generatedType: 'STORED', asExpression: 'upper(email)' })
  display!: string;

  @ManyToOne(() => Team, (team) => team.members)
  @JoinColumn({ name: 'team_id' })
  team?: Relation<Team>;

  @ManyToOne(() => Team, { lazy: true })
  formerTeam?: Promise<Team>;

  @CreateDateColumn({ type: 'timestamptz' })
  createdAt!: Date;

  @UpdateDateColumn({ type: 'timestamptz' })
  updatedAt!: Date;

  @DeleteDateColumn({ type: 'timestamptz' })
  deletedAt!: Date | null;

  @VersionColumn()
  version!: number;

  get initial(): string {
    return this.email.charAt(0);
  }
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

/** No `withAuthColumns`: the host's own identifier and hash, and its own idea of case. */
@Entity('plain')
export class Plain {
  @PrimaryGeneratedColumn('identity', { type: 'int' })
  id!: number;

  @Column('text', { unique: true })
  handle!: string;

  @Column('text', { nullable: true })
  passwordHash?: string | null;
}

export const ACCOUNTS = [
  ByUuid,
  ByInt,
  ByBigint,
  ByName,
  Team,
  Rich,
  Eager,
  Embedding,
  Crew,
  Captain,
  Greeting,
  Counting,
  Plain,
];
