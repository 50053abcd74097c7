import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * The one link by which an account's password may be reset. A newer one takes its place.
 *
 * @publicApi
 */
@Entity('svc_password_resets')
export class PasswordResetToken {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'svc_password_resets_pkey' })
  guard!: string;

  /** The broker's name; empty for the default one. */
  @PrimaryColumn({ type: 'text', default: '', primaryKeyConstraintName: 'svc_password_resets_pkey' })
  broker!: string;

  @PrimaryColumn({ name: 'user_id', type: 'text', primaryKeyConstraintName: 'svc_password_resets_pkey' })
  userId!: string;

  /** SHA-256 of the address the link was mailed to: it is good for no other. */
  @Column({ name: 'email_hash', type: 'text', select: false })
  emailHash!: string;

  /** SHA-256 of the token, in hex. Never selected by default. */
  @Column({ name: 'token_hash', type: 'text', select: false })
  tokenHash!: string;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;
}
