import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/**
 * One passkey of one user (a credential record, WebAuthn Level 3 §4).
 *
 * @publicApi
 */
@Entity('svc_passkeys')
@Index('svc_passkeys_owner', ['guard', 'userId'])
export class Passkey {
  /** Base64url. Unique across guards: an authenticator's credential has one owner. */
  @PrimaryColumn({ name: 'credential_id', type: 'varchar', length: 255, primaryKeyConstraintName: 'svc_passkeys_pkey' })
  credentialId!: string;

  @Column({ name: 'user_id', type: 'text' })
  userId!: string;

  /** A row without one belongs to nobody: no guard finds it. */
  @Column({ type: 'text', nullable: true })
  guard!: string | null;

  /** The owner's own name for it. */
  @Column({ type: 'varchar', length: 255, nullable: true })
  name!: string | null;

  /** COSE key (RFC 9052 §7), encrypted and bound to this row's id, guard and owner. */
  @Column({ name: 'public_key', type: 'text', select: false })
  publicKey!: string;

  /** As last seen; 0 for authenticators that do not count. Never falls. */
  @Column({ name: 'sign_count', type: 'bigint', default: 0 })
  signCount!: string;

  /** How the browser reaches the authenticator, as it said at registration. */
  @Column({ type: 'json', default: '[]' })
  transports!: string[];

  /** Model of the authenticator, as it says itself: nobody attests it. */
  @Column({ type: 'uuid' })
  aaguid!: string;

  /** Whether it may be synced between devices. Never changes. */
  @Column({ name: 'backup_eligible', type: 'boolean' })
  backupEligible!: boolean;

  /** Whether it was synced, as last seen. */
  @Column({ name: 'backed_up', type: 'boolean' })
  backedUp!: boolean;

  @Column({ name: 'last_used_at', type: 'timestamptz', nullable: true })
  lastUsedAt!: Date | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  @Column({ name: 'updated_at', type: 'timestamptz' })
  updatedAt!: Date;
}
