import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';

/**
 * A rebuild of the denylist. The store holds `epoch` for as long as it has lost nothing since the rebuild began;
 * the numbers tell which of two rebuilds began first.
 *
 * @publicApi
 */
@Entity('svc_denylist_epochs')
@Index('svc_denylist_epochs_epoch', ['epoch'], { unique: true })
export class DenylistEpoch {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'svc_denylist_epochs_pkey',
  })
  number!: string;

  @Column('uuid')
  epoch!: string;

  @Column({ name: 'began_at', type: 'timestamptz' })
  beganAt!: Date;
}
