import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';

/**
 * A session that was ended while access tokens of it may live. What the denylist in the store holds, in a
 * place that a flush does not reach. It names no user, and goes when the last token has expired.
 *
 * @publicApi
 */
@Entity('svc_revocations')
@Index('svc_revocations_family', ['familyId'])
@Index('svc_revocations_expiry', ['expiresAt', 'id'])
export class Revocation {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'svc_revocations_pkey',
  })
  id!: string;

  /** The `fid`, spelled as `denialId` does. */
  @Column({ name: 'family_id', type: 'text' })
  familyId!: string;

  @Column({ name: 'expires_at', type: 'timestamptz' })
  expiresAt!: Date;
}
