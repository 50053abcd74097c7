import { Exclude } from 'class-transformer';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

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
