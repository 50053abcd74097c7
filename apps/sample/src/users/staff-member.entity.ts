import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** A person of the staff, who signs in with a username at `staff/auth` (guard `staff`), and has no email. */
@Entity('staff')
export class StaffMember {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'staff_pkey' })
  id!: string;

  @Column({ type: 'text', unique: true })
  handle!: string;

  @Column({ name: 'password_hash', type: 'text', select: false })
  passwordHash!: string;
}
