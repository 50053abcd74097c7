import { Exclude } from 'class-transformer';
import { Column, Entity, Index, PrimaryColumn } from '../../foundation/platform/entity';
import { CreatesTable } from '../../foundation/realm/feature-data';

/**
 * A device from which the password alone signs one user in (`twoFactor.trustedDeviceDays`). The device has a random token;
 * only its hash is stored.
 *
 * @publicApi
 */
@Entity('svc_trusted_devices')
@Index('svc_trusted_devices_expiry', ['expiresAt'])
export class TrustedDevice {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'svc_trusted_devices_pkey' })
  guard!: string;

  @PrimaryColumn({ name: 'user_id', type: 'text', primaryKeyConstraintName: 'svc_trusted_devices_pkey' })
  userId!: string;

  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'svc_trusted_devices_pkey' })
  id!: string;

  /** SHA-256 of the token, in hex. */
  @Exclude()
  @Column({ name: 'token_hash', type: 'text', select: false })
  tokenHash!: string;

  /**
   * SHA-256 of the password hash and of the state of the factors that the user had, in hex: the device is trusted only
   * while all of them are unchanged.
   */
  @Exclude()
  @Column({ type: 'text', select: false })
  binding!: string;

  @Column({ name: 'user_agent', type: 'text', nullable: true })
  userAgent!: string | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  /** Never changes: a login does not extend the trust. */
  @Column({ name: 'expires_at', type: 'timestamptz' })
  expiresAt!: Date;

  /** The fields for JSON, without the hashes. */
  toJSON(): object {
    const { tokenHash: _token, binding: _binding, ...shown } = this;
    return shown;
  }
}

/** Creates `svc_trusted_devices`. */
export class CreateSvcTrustedDevices1764400000000 extends CreatesTable {
  protected readonly statements = [
    `
      CREATE TABLE svc_trusted_devices (
        guard text NOT NULL,
        user_id text NOT NULL,
        id uuid NOT NULL,
        token_hash text NOT NULL,
        binding text NOT NULL,
        user_agent text,
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        CONSTRAINT svc_trusted_devices_pkey PRIMARY KEY (guard, user_id, id)
      )`,
    'CREATE INDEX svc_trusted_devices_expiry ON svc_trusted_devices (expires_at)',
  ];
}
