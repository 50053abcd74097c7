import { Exclude } from 'class-transformer';
import { data } from '../../kit';

declare module '../../foundation/realm/feature-data' {
  interface Pruned {
    resetTokens: number;
  }
}

/**
 * The token of a password reset. An account has up to three for each broker: see {@link slot}.
 *
 * @publicApi
 */
@data.Entity('svc_password_resets')
export class PasswordResetToken {
  @data.PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'svc_password_resets_pkey' })
  guard!: string;

  /** Name of the broker (`passwordReset.broker`); empty for the default broker. */
  @data.PrimaryColumn({ type: 'text', default: '', primaryKeyConstraintName: 'svc_password_resets_pkey' })
  broker!: string;

  @data.PrimaryColumn({ name: 'user_id', type: 'text', primaryKeyConstraintName: 'svc_password_resets_pkey' })
  userId!: string;

  /** 1 to 3. A new token takes a slot without a token that can still be used. */
  @data.PrimaryColumn({ type: 'smallint', default: 1, primaryKeyConstraintName: 'svc_password_resets_pkey' })
  slot!: number;

  /** SHA-256 of the address to which the link was mailed. The token is valid only for this address. */
  @Exclude()
  @data.Column({ name: 'email_hash', type: 'text', select: false })
  emailHash!: string;

  /** SHA-256 of the token, in hex. Never selected by default. */
  @Exclude()
  @data.Column({ name: 'token_hash', type: 'text', select: false })
  tokenHash!: string;

  @data.Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  /** SHA-256 of the password hash that the token is bound to, in hex: the token is valid only while that hash is stored. */
  @Exclude()
  @data.Column({ name: 'password_fingerprint', type: 'text', default: '', select: false })
  passwordFingerprint!: string;

  /** Whether the mail with the token failed. The token is valid, because the mail may have arrived; a new one takes its slot. */
  @data.Column({ type: 'boolean', default: false })
  undelivered!: boolean;

  /** The fields for JSON, without the hashes. */
  toJSON(): object {
    const { emailHash: _email, tokenHash: _token, passwordFingerprint: _password, ...shown } = this;
    return shown;
  }
}

/** Creates `svc_password_resets`. */
export class CreateSvcPasswordResets1764100000000 extends data.CreatesTable {
  protected readonly statements = [
    `
      CREATE TABLE svc_password_resets (
        guard text NOT NULL,
        broker text NOT NULL DEFAULT '',
        user_id text NOT NULL,
        email_hash text NOT NULL,
        token_hash text NOT NULL,
        created_at timestamptz NOT NULL,
        password_fingerprint text NOT NULL DEFAULT '',
        slot smallint NOT NULL DEFAULT 1,
        undelivered boolean NOT NULL DEFAULT false,
        CONSTRAINT svc_password_resets_pkey PRIMARY KEY (guard, broker, user_id, slot)
      )`,
  ];
}
