import { data } from '../../kit';

/**
 * The account of a user at a provider, with which the user signs in. No token of the provider is stored.
 *
 * @publicApi
 */
@data.Entity('svc_identities')
@data.Index('svc_identities_subject', ['guard', 'issuer', 'subject'], { unique: true })
@data.Index('svc_identities_owner', ['guard', 'userId'])
export class Identity {
  @data.PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'svc_identities_pkey' })
  id!: string;

  /** The guard that names the source of the user: guards with the same users share an identity. */
  @data.Column({ type: 'text' })
  guard!: string;

  @data.Column({ name: 'user_id', type: 'text' })
  userId!: string;

  /** The name of the provider in the options, at the time of the link. */
  @data.Column({ type: 'text' })
  provider!: string;

  /** The claim `iss` of the provider. With {@link subject} it identifies the person (OpenID Connect Core §2). */
  @data.Column({ type: 'text' })
  issuer!: string;

  /** The claim `sub`. */
  @data.Column({ type: 'text' })
  subject!: string;

  /** The address that the provider stated last. It is shown to the owner, and finds no account. */
  @data.Column({ type: 'text', nullable: true })
  email!: string | null;

  @data.Column({ name: 'linked_at', type: 'timestamptz' })
  linkedAt!: Date;

  /** Time of the last sign-in with it. */
  @data.Column({ name: 'last_used_at', type: 'timestamptz', nullable: true })
  lastUsedAt!: Date | null;
}

/** Creates `svc_identities`. */
export class CreateSvcIdentities1764600000000 extends data.CreatesTable {
  protected readonly statements = [
    `
      CREATE TABLE svc_identities (
        id uuid NOT NULL CONSTRAINT svc_identities_pkey PRIMARY KEY,
        guard text NOT NULL,
        user_id text NOT NULL,
        provider text NOT NULL,
        issuer text NOT NULL,
        subject text NOT NULL,
        email text,
        linked_at timestamptz NOT NULL,
        last_used_at timestamptz
      )`,
    'CREATE UNIQUE INDEX svc_identities_subject ON svc_identities (guard, issuer, subject)',
    'CREATE INDEX svc_identities_owner ON svc_identities (guard, user_id)',
  ];
}
