import { Exclude } from 'class-transformer';
import { Column, Entity, Index, PrimaryColumn } from '../../foundation/platform/entity';
import { CreatesTable } from '../../foundation/realm/feature-data';

declare module '../../foundation/realm/feature-data' {
  interface Pruned {
    emailDeliveries: number;
  }
}

/**
 * An opened verification link that proved that mails to the address of a user arrive, and not that the user reads them: the
 * request carried no session of the user. The rows of a user and address are deleted when a person proves the address.
 *
 * @publicApi
 */
@Entity('svc_email_deliveries')
@Index('svc_email_deliveries_owner', ['guard', 'userId'])
export class EmailDelivery {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'svc_email_deliveries_pkey' })
  id!: string;

  @Column({ type: 'text' })
  guard!: string;

  @Column({ name: 'user_id', type: 'text' })
  userId!: string;

  /** SHA-256 of the address, in hex. */
  @Exclude()
  @Column({ name: 'email_hash', type: 'text', select: false })
  emailHash!: string;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  /** The fields for JSON, without the hash. */
  toJSON(): object {
    const { emailHash: _, ...shown } = this;
    return shown;
  }
}

/** Creates `svc_email_deliveries`. */
export class CreateSvcEmailDeliveries1764500000000 extends CreatesTable {
  protected readonly statements = [
    `
      CREATE TABLE svc_email_deliveries (
        id uuid NOT NULL CONSTRAINT svc_email_deliveries_pkey PRIMARY KEY,
        guard text NOT NULL,
        user_id text NOT NULL,
        email_hash text NOT NULL,
        created_at timestamptz NOT NULL
      )`,
    'CREATE INDEX svc_email_deliveries_owner ON svc_email_deliveries (guard, user_id)',
  ];
}
