import type { Usage } from './sign-count.policy';
import { Exclude } from 'class-transformer';
import { data } from '../../kit';

/**
 * One passkey of one user (a credential record, WebAuthn Level 3 §4).
 *
 * @publicApi
 */
@data.Entity('svc_passkeys')
@data.Index('svc_passkeys_owner', ['guard', 'userId'])
export class Passkey {
  /** Credential id in base64url: at most 1023 bytes. Unique across guards: a credential has one owner. */
  @data.PrimaryColumn({
    name: 'credential_id',
    type: 'varchar',
    length: 1364,
    primaryKeyConstraintName: 'svc_passkeys_pkey',
  })
  credentialId!: string;

  @data.Column({ name: 'user_id', type: 'text' })
  userId!: string;

  /**
   * User handle in base64url, of a passkey that was created before its account; null: the handle is the user id.
   */
  @data.Column({ name: 'user_handle', type: 'varchar', length: 88, nullable: true })
  userHandle!: string | null;

  /**
   * Name of the guard. No guard can use a row without it: such a row, with an empty user id, occupies the id of a passkey
   * that was registered for a taken email with `registration.concealExisting`.
   */
  @data.Column({ type: 'text', nullable: true })
  guard!: string | null;

  /** Name of the passkey, chosen by its owner. */
  @data.Column({ type: 'varchar', length: 255, nullable: true })
  name!: string | null;

  /** COSE key (RFC 9052 §7), encrypted and bound to this row's id, guard and owner. */
  @Exclude()
  @data.Column({ name: 'public_key', type: 'text', select: false })
  publicKey!: string;

  /** Signature counter of the last use; 0 for authenticators that do not count. Never decreases. */
  @data.Column({ name: 'sign_count', type: 'bigint', default: 0 })
  signCount!: string;

  /** Transports of the authenticator, as reported by the browser at registration. */
  @data.Column({ type: 'json', default: '[]' })
  transports!: string[];

  /** Model of the authenticator, as reported by itself, without attestation. */
  @data.Column({ type: 'uuid' })
  aaguid!: string;

  /** Whether the passkey can be synced between devices. Changes only with `passkeys.backupChange: 'accept'`. */
  @data.Column({ name: 'backup_eligible', type: 'boolean' })
  backupEligible!: boolean;

  /** Whether the passkey was synced at its last use. */
  @data.Column({ name: 'backed_up', type: 'boolean' })
  backedUp!: boolean;

  @data.Column({ name: 'last_used_at', type: 'timestamptz', nullable: true })
  lastUsedAt!: Date | null;

  @data.Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  @data.Column({ name: 'updated_at', type: 'timestamptz' })
  updatedAt!: Date;

  /** The fields for JSON, without the key. */
  toJSON(): object {
    const { publicKey: _, ...shown } = this;
    return shown;
  }
}

/** A passkey in the list of its owner. */
export interface ListedPasskey {
  readonly id: string;
  readonly name: string | null;
  /** Unix seconds; null if the passkey was never used. */
  readonly last_used_at: number | null;
}

/** A passkey in the export of an account. */
export interface ExportedPasskey extends Pick<ListedPasskey, 'name' | 'last_used_at'> {
  readonly credential_id: string;
}

declare module '../../foundation/realm/feature-data' {
  interface ExportedData {
    passkeys: ExportedPasskey[];
  }
  interface Pruned {
    passkeys: number;
  }
}

/** The passkeys of a user, and what the signals of `PublicKeyCredential` need. */
export interface PasskeyList {
  readonly passkeys: readonly ListedPasskey[];
  readonly rp_id: string;
  readonly user_handle: string;
  /** `user.name` of the creation options, for `PublicKeyCredential.signalCurrentUserDetails`. */
  readonly user_name: string;
  readonly all_accepted_credential_ids: readonly string[];
}

/** The credential of a verified registration. */
export interface NewCredential extends Usage {
  readonly credentialId: string;
  readonly publicKey: Uint8Array;
  readonly transports: readonly string[];
  readonly aaguid: string;
}

/** Creates `svc_passkeys`. */
export class CreateSvcPasskeys1764000000000 extends data.CreatesTable {
  protected readonly statements = [
    `
      CREATE TABLE svc_passkeys (
        credential_id varchar(1364) NOT NULL CONSTRAINT svc_passkeys_pkey PRIMARY KEY,
        user_id text NOT NULL,
        user_handle varchar(88),
        guard text,
        name varchar(255),
        public_key text NOT NULL,
        sign_count bigint NOT NULL DEFAULT 0,
        transports json NOT NULL DEFAULT '[]',
        aaguid uuid NOT NULL,
        backup_eligible boolean NOT NULL,
        backed_up boolean NOT NULL,
        last_used_at timestamptz,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL
      )`,
    'CREATE INDEX svc_passkeys_owner ON svc_passkeys (guard, user_id)',
  ];
}
