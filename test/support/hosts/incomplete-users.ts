import { type StoredCredentials, UserProvider } from '@svc/auth';
import { Column, CreateDateColumn, DeleteDateColumn, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';

/** A provider with the required methods only. */
export class MinimalProvider extends UserProvider {
  findById = async (): Promise<object | null> => null;
  findByIdentifier = async (): Promise<StoredCredentials | null> => null;
  passwordHashOf = async (): Promise<string | null> => null;
  idOf = (): string => '1';
  savePasswordHash = async (): Promise<void> => undefined;
}

/** Adds `identifierOf`. */
export class IdentifierProvider extends MinimalProvider {
  override identifierOf = (): string => 'ada@example.com';
}

/** Adds `comparedForm`. */
export class ComparingProvider extends IdentifierProvider {
  override comparedForm = (identifier: string): string => identifier.toLowerCase();
}

/** Verifies emails, but does not know which. */
export class ForgetfulProvider extends IdentifierProvider {
  override markEmailVerified = async (): Promise<boolean> => true;
}

/** Adds `emailOf`. */
export class EmailProvider extends MinimalProvider {
  override emailOf = (): string => 'ada@example.com';
}

/** Adds creation times. */
export class CreationTimeProvider extends MinimalProvider {
  override currentMark = async (): Promise<string> => '0';
  override wasCreatedSince = async (): Promise<boolean> => false;
}

/** Has one of the two methods for creation times. */
export class MarkingProvider extends IdentifierProvider {
  override currentMark = async (): Promise<string> => '0';
}

/** Adds email verification. */
export class VerificationProvider extends MinimalProvider {
  override markEmailVerified = async (): Promise<boolean> => true;
  override isEmailVerified = (): boolean => true;
}

/** A provider with every method. */
export class CompleteProvider extends IdentifierProvider {
  override create = async (): Promise<null> => null;
  override currentMark = async (): Promise<string> => '0';
  override wasCreatedSince = async (): Promise<boolean> => false;
  override delete = async (): Promise<boolean> => false;
  override markEmailVerified = async (): Promise<boolean> => true;
  override isEmailVerified = (): boolean => true;
}

abstract class UserBase {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column('text')
  name!: string;

  @Column('text', { nullable: true })
  passwordHash!: string | null;
}

@Entity('loose')
export class DuplicateEmails extends UserBase {
  @Column('text')
  email!: string;
}

/** An email is unique only within a tenant. */
@Entity('tenants')
@Index(['email', 'tenant'], { unique: true })
export class EmailUniquePerTenant extends UserBase {
  @Column('text')
  email!: string;

  @Column('text')
  tenant!: string;
}

@Entity('some')
export class EmailPartlyUnique extends UserBase {
  @Index({ unique: true, where: "name <> 'guest'" })
  @Column('text')
  email!: string;
}

@Entity('handles')
export class UniqueHandle extends UserBase {
  @Column('text', { unique: true })
  handle!: string;

  @Column('text')
  email!: string;

  /** A column without time zone: its value depends on the time zone of the connection. */
  @CreateDateColumn()
  createdAt!: Date;
}

@Entity('unique')
export class UniqueEmail extends UserBase {
  @Column('text', { unique: true })
  email!: string;
}

/** An email is unique among users that are not marked as deleted. */
@Entity('live')
export class UniqueUnlessDeleted extends UserBase {
  @Index({ unique: true, where: '"deleted_at" IS NULL' })
  @Column('text')
  email!: string;

  @DeleteDateColumn({ name: 'deleted_at' })
  deletedAt!: Date | null;
}

export const USER_ENTITIES = [
  DuplicateEmails,
  EmailUniquePerTenant,
  EmailPartlyUnique,
  UniqueHandle,
  UniqueEmail,
  UniqueUnlessDeleted,
];
