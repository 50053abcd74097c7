import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'status' })
export class StatusEntity {
  @PrimaryColumn({ type: Number })
  id: number;

  @Column({ type: String })
  name?: string;
}
