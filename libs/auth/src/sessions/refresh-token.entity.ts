import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryGeneratedColumn, type Relation } from 'typeorm';
import { Session } from './session.entity';

/**
 * One refresh token, known by its hash alone.
 *
 * @publicApi
 */
@Entity('svc_refresh_tokens')
@Index('svc_refresh_tokens_live', ['familyId'], { where: 'rotated_at IS NULL' })
export class RefreshToken {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'svc_refresh_tokens_pkey',
  })
  id!: string;

  @Index('svc_refresh_tokens_family')
  @Column({ name: 'family_id', type: 'uuid' })
  familyId!: string;

  @ManyToOne(() => Session, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'family_id', foreignKeyConstraintName: 'svc_refresh_tokens_family_fkey' })
  session?: Relation<Session>;

  /** SHA-256 of the token, in hex. Never selected by default. */
  @Index('svc_refresh_tokens_hash', { unique: true })
  @Column({ name: 'token_hash', type: 'text', select: false })
  tokenHash!: string;

  /** The token this one was exchanged for. */
  @Column({ name: 'previous_id', type: 'bigint', nullable: true })
  previousId!: string | null;

  /** The pinned grant: null derives abilities at each mint, the empty string grants nothing. */
  @Column({ type: 'text', nullable: true, select: false })
  scope!: string | null;

  /** When the token was exchanged for its first successor. Never moved by later siblings. */
  @Column({ name: 'rotated_at', type: 'timestamptz', nullable: true })
  rotatedAt!: Date | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;
}
