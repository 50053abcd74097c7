import { type StoredCredentials, UserProvider } from '@svc/auth';
import { Column, CreateDateColumn, DeleteDateColumn, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';

/** Users that can be asked, and nothing else. */
export class Strangers extends UserProvider {
  findById = async (): Promise<object | null> => null;
  findByIdentifier = async (): Promise<StoredCredentials | null> => null;
  passwordHashOf = async (): Promise<string | null> => null;
  idOf = (): string => '1';
  savePasswordHash = async (): Promise<void> => undefined;
}

/** The same, with the identifier that they sign in with. */
export class Readers extends Strangers {
  override identifierOf = (): string => 'ada@example.com';
}

/** The same, who have an email besides. */
export class Addressed extends Strangers {
  override emailOf = (): string => 'ada@example.com';
}

/** The same, who tell since when they are there. */
export class Dated extends Strangers {
  override datesAccounts = (): boolean => true;
}

/** The same, whose email is verified, whatever it is. */
export class Verifying extends Strangers {
  override verifiesEmails = (): boolean => true;
}

/** Users of a provider of the host's that do all there is. */
export class Complete extends Readers {
  override createsAccounts = (): boolean => true;
  override datesAccounts = (): boolean => true;
  override deletesAccounts = (): boolean => true;
  override verifiesEmails = (): boolean => true;
}

abstract class Own {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column('text')
  name!: string;

  @Column('text', { nullable: true })
  passwordHash!: string | null;
}

@Entity('loose')
export class Loose extends Own {
  @Column('text')
  email!: string;
}

/** The address is one of a tenant's. */
@Entity('tenants')
@Index(['email', 'tenant'], { unique: true })
export class Tenants extends Own {
  @Column('text')
  email!: string;

  @Column('text')
  tenant!: string;
}

@Entity('some')
export class Some extends Own {
  @Index({ unique: true, where: "name <> 'guest'" })
  @Column('text')
  email!: string;
}

@Entity('handles')
export class Handles extends Own {
  @Column('text', { unique: true })
  handle!: string;

  @Column('text')
  email!: string;

  /** In a time zone that only the connection knows. */
  @CreateDateColumn()
  createdAt!: Date;
}

@Entity('unique')
export class Unique extends Own {
  @Column('text', { unique: true })
  email!: string;
}

/** Those that are marked as deleted may share their address. */
@Entity('live')
export class Live extends Own {
  @Index({ unique: true, where: '"deleted_at" IS NULL' })
  @Column('text')
  email!: string;

  @DeleteDateColumn({ name: 'deleted_at' })
  deletedAt!: Date | null;
}

export const OWN = [Loose, Tenants, Some, Handles, Unique, Live];
