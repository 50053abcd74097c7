import { Exclude } from 'class-transformer';
import { data } from '../../kit';

/**
 * A device on which a user has signed in. It grants nothing: a sign-in needs the same proofs on a known device. After the
 * device was forgotten, the row remains without it, so that the next sign-in is not the first one of the user.
 *
 * @publicApi
 */
@data.Entity('svc_known_devices')
@data.Index('svc_known_devices_device', ['guard', 'userId', 'deviceHash'], { unique: true })
export class KnownDevice {
  @data.PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'svc_known_devices_pkey' })
  id!: string;

  @data.Column({ type: 'text' })
  guard!: string;

  @data.Column({ name: 'user_id', type: 'text' })
  userId!: string;

  /** SHA-256 of the user's random id in the token of the device, in hex. Null for a device that was forgotten. */
  @Exclude()
  @data.Column({ name: 'device_hash', type: 'text', nullable: true, select: false })
  deviceHash!: string | null;

  /** The session that the mail is about: the first one on the device, or the last one while the mail is due. */
  @data.Column({ name: 'session_id', type: 'uuid' })
  sessionId!: string;

  @data.Column({ name: 'user_agent', type: 'text', nullable: true })
  userAgent!: string | null;

  @data.Column({ name: 'first_seen_at', type: 'timestamptz' })
  firstSeenAt!: Date;

  /** Time of the last sign-in. */
  @data.Column({ name: 'last_seen_at', type: 'timestamptz' })
  lastSeenAt!: Date;

  /** SHA-256 of the token in the mailed link, in hex; null without a mail. */
  @Exclude()
  @data.Index('svc_known_devices_link', { unique: true })
  @data.Column({ name: 'link_hash', type: 'text', nullable: true, select: false })
  linkHash!: string | null;

  /** When the owner of the account used the link. */
  @data.Column({ name: 'reported_at', type: 'timestamptz', nullable: true })
  reportedAt!: Date | null;

  /** Whether the mail about the first sign-in has to be sent. A mail that could not be sent is sent at the next sign-in. */
  @data.Column({ name: 'mail_due', type: 'boolean', default: false })
  mailDue!: boolean;

  /** The fields for JSON, without the hashes. */
  toJSON(): object {
    const { deviceHash: _device, linkHash: _link, ...shown } = this;
    return shown;
  }
}

/** Creates `svc_known_devices`. */
export class CreateSvcKnownDevices1764300000000 extends data.CreatesTable {
  protected readonly statements = [
    `
      CREATE TABLE svc_known_devices (
        id uuid NOT NULL CONSTRAINT svc_known_devices_pkey PRIMARY KEY,
        guard text NOT NULL,
        user_id text NOT NULL,
        device_hash text,
        session_id uuid NOT NULL,
        user_agent text,
        first_seen_at timestamptz NOT NULL,
        last_seen_at timestamptz NOT NULL,
        link_hash text,
        reported_at timestamptz,
        mail_due boolean NOT NULL DEFAULT false
      )`,
    'CREATE UNIQUE INDEX svc_known_devices_device ON svc_known_devices (guard, user_id, device_hash)',
    'CREATE UNIQUE INDEX svc_known_devices_link ON svc_known_devices (link_hash)',
  ];
}
