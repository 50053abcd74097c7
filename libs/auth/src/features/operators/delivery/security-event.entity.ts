import { data } from '../../../kit';

/**
 * A Security Event Token that waits for its receiver, or that was given up.
 *
 * @publicApi
 */
@data.Entity('svc_security_events')
@data.Index('svc_security_events_due', ['guard', 'receiver', 'dueAt', 'position'], { where: 'dead_at IS NULL' })
@data.Index('svc_security_events_user', ['userId', 'position'], { where: 'dead_at IS NULL' })
@data.Index('svc_security_events_dead', ['guard', 'deadAt'], { where: 'dead_at IS NOT NULL' })
export class SecurityEventRow {
  /** The order in which the events of a user are delivered. */
  @data.PrimaryColumn({
    type: 'bigint',
    generated: 'increment',
    primaryKeyConstraintName: 'svc_security_events_pkey',
  })
  position!: string;

  /** The guard whose keys sign the token. */
  @data.Column({ type: 'text' })
  guard!: string;

  @data.Column({ name: 'user_id', type: 'text' })
  userId!: string;

  /** The name of the receiver in the options. */
  @data.Column({ type: 'text' })
  receiver!: string;

  /** The claims of the token, which is signed for each attempt. They stay the same, also `jti`. */
  @data.Column({ type: 'json' })
  claims!: object;

  @data.Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  /** The next attempt; while a process delivers the row, the time at which another one may. */
  @data.Column({ name: 'due_at', type: 'timestamptz' })
  dueAt!: Date;

  /** Number of attempts that have begun. */
  @data.Column({ type: 'integer', default: 0 })
  attempts!: number;

  /** Why the last attempt failed: a status, an error code of the receiver (RFC 8935 §2.4), or that of the network. */
  @data.Column({ type: 'text', nullable: true })
  failure!: string | null;

  /** When it was given up. */
  @data.Column({ name: 'dead_at', type: 'timestamptz', nullable: true })
  deadAt!: Date | null;
}

/** Creates `svc_security_events`. */
export class CreateSvcSecurityEvents1765000000000 extends data.CreatesTable {
  protected readonly statements = [
    `
      CREATE TABLE svc_security_events (
        position bigserial NOT NULL CONSTRAINT svc_security_events_pkey PRIMARY KEY,
        guard text NOT NULL,
        user_id text NOT NULL,
        receiver text NOT NULL,
        claims json NOT NULL,
        created_at timestamptz NOT NULL,
        due_at timestamptz NOT NULL,
        attempts integer NOT NULL DEFAULT 0,
        failure text,
        dead_at timestamptz
      )`,
    'CREATE INDEX svc_security_events_due ON svc_security_events (guard, receiver, due_at, position) WHERE dead_at IS NULL',
    'CREATE INDEX svc_security_events_user ON svc_security_events (user_id, position) WHERE dead_at IS NULL',
    'CREATE INDEX svc_security_events_dead ON svc_security_events (guard, dead_at) WHERE dead_at IS NOT NULL',
  ];
}
