import { Exclude } from 'class-transformer';
import { data } from '../../kit';

/**
 * A key with which a script or a service calls routes. Its text is not stored.
 *
 * @publicApi
 */
@data.Entity('svc_access_keys')
@data.Index('svc_access_keys_owner', ['guard', 'userId'])
@data.Index('svc_access_keys_service', ['guard', 'service'])
export class AccessKey {
  /** Part of the text of the key. */
  @data.PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'svc_access_keys_pkey' })
  id!: string;

  /** The guard at which the key counts. */
  @data.Column({ type: 'text' })
  guard!: string;

  /** Null for a key of a service. */
  @data.Column({ name: 'user_id', type: 'text', nullable: true })
  userId!: string | null;

  /** The name of the service; null for a key of a user. */
  @data.Column({ type: 'text', nullable: true })
  service!: string | null;

  @data.Column({ type: 'text' })
  label!: string;

  /** Space-delimited abilities. The empty text grants nothing. */
  @data.Column({ type: 'text' })
  scope!: string;

  /** Space-delimited networks (CIDR) from which it is accepted; the empty text for every network. */
  @data.Column({ type: 'text' })
  networks!: string;

  /** HMAC-SHA256 of the secret, in hex. */
  @Exclude()
  @data.Column({ name: 'secret_mac', type: 'text', select: false })
  secretMac!: string;

  @data.Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  @data.Column({ name: 'expires_at', type: 'timestamptz', nullable: true })
  expiresAt!: Date | null;

  /** Time of a request that was accepted. It may be a minute old. */
  @data.Column({ name: 'last_used_at', type: 'timestamptz', nullable: true })
  lastUsedAt!: Date | null;

  /** Space-delimited networks (IPv4 /24, IPv6 /48) of its last requests, the newest first. */
  @data.Column({ name: 'seen_networks', type: 'text' })
  seenNetworks!: string;

  @data.Column({ name: 'revoked_at', type: 'timestamptz', nullable: true })
  revokedAt!: Date | null;

  /** The fields for JSON, without the HMAC. */
  toJSON(): object {
    const { secretMac: _, ...shown } = this;
    return shown;
  }
}

/** Creates `svc_access_keys`. */
export class CreateSvcAccessKeys1764700000000 extends data.CreatesTable {
  protected readonly statements = [
    `
      CREATE TABLE svc_access_keys (
        id uuid NOT NULL CONSTRAINT svc_access_keys_pkey PRIMARY KEY,
        guard text NOT NULL,
        user_id text,
        service text,
        label text NOT NULL,
        scope text NOT NULL,
        networks text NOT NULL,
        secret_mac text NOT NULL,
        created_at timestamptz NOT NULL,
        expires_at timestamptz,
        last_used_at timestamptz,
        seen_networks text NOT NULL,
        revoked_at timestamptz
      )`,
    'CREATE INDEX svc_access_keys_owner ON svc_access_keys (guard, user_id)',
    'CREATE INDEX svc_access_keys_service ON svc_access_keys (guard, service)',
  ];
}
