import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'role' })
export class RoleEntity {
  @PrimaryColumn({ type: Number })
  id: number;

  @Column({ type: String })
  name?: string;
}
