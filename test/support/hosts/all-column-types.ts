import { withAuthColumns } from '@svc/auth';
import {
  Column,
  CreateDateColumn,
  DeleteDateColumn,
  Entity,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';

export enum Mood {
  Calm = 'calm',
  Cross = 'cross',
}

const reversed = {
  to: (text: string) => [...text].toReversed().join(''),
  from: (text: string) => [...text].toReversed().join(''),
};
const shouted = { to: (text: string) => text.toLowerCase(), from: (text: string) => text.toUpperCase() };
const money = { to: (cents: bigint) => String(cents), from: (text: string) => BigInt(text) };

/** An entity with ordinary columns of every type, in another schema, with a space in the table name. */
@Entity({ name: 'Rich people', schema: 'crm' })
export class AllColumnTypes extends withAuthColumns() {
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

  @Column('text', { transformer: [shouted, reversed], name: 'a weird.name' })
  loud!: string;

  @Column('text', { select: false, default: 'hidden by default' })
  secret?: string;

  @Column({ type: 'text', generatedType: 'STORED', asExpression: 'upper(email)' })
  display!: string;

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
