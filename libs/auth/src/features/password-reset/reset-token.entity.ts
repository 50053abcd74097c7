import { Exclude } from 'class-transformer';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * The token of a password reset. An account has up to three for each broker: see {@link slot}.
 *
 * @publicApi
 */
@Entity('svc_password_resets')
export class PasswordResetToken {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'svc_password_resets_pkey' })
  guard!: string;

  /** Name of the broker (`passwordReset.broker`); empty for the default broker. */
  @PrimaryColumn({ type: 'text', default: '', primaryKeyConstraintName: 'svc_password_resets_pkey' })
  broker!: string;

  @PrimaryColumn({ name: 'user_id', type: 'text', primaryKeyConstraintName: 'svc_password_resets_pkey' })
  userId!: string;

  /** 1 to 3. A new token takes a slot without a token that can still be used. */
  @PrimaryColumn({ type: 'smallint', default: 1, primaryKeyConstraintName: 'svc_password_resets_pkey' })
  slot!: number;

  /** SHA-256 of the address to which the link was mailed. The token is valid only for this address. */
  @Exclude()
  @Column({ name: 'email_hash', type: 'text', select: false })
  emailHash!: string;

  /** SHA-256 of the token, in hex. Never selected by default. */
  @Exclude()
  @Column({ name: 'token_hash', type: 'text', select: false })
  tokenHash!: string;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  /** SHA-256 of the password hash that the token is bound to, in hex: the token is valid only while that hash is stored. */
  @Exclude()
  @Column({ name: 'password_fingerprint', type: 'text', default: '', select: false })
  passwordFingerprint!: string;

  /** Whether the mail with the token failed. The token is valid, because the mail may have arrived; a new one takes its slot. */
  @Column({ type: 'boolean', default: false })
  undelivered!: boolean;

  /** The fields for JSON, without the hashes. */
  toJSON(): object {
    const { emailHash: _email, tokenHash: _token, passwordFingerprint: _password, ...shown } = this;
    return shown;
  }
}
