import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The primary key makes one subject of a provider one account, also with two concurrent sign-ins. */
@Entity('identities')
export class Identity {
  @PrimaryColumn() provider!: string;
  @PrimaryColumn() subject!: string;
  @Column('uuid', { name: 'user_id' }) userId!: string;
}
