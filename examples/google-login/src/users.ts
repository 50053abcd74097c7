import { withAuthColumns } from '@svc/auth';
import { Column, Entity, type MigrationInterface, PrimaryGeneratedColumn, type QueryRunner } from 'typeorm';

@Entity('users')
export class User extends withAuthColumns() {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column()
  name!: string;

  @Column({ name: 'email_verified_at', type: 'timestamptz', nullable: true })
  emailVerifiedAt!: Date | null;
}

export class CreateUsers1795000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE users (
        id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
        name text NOT NULL,
        email text NOT NULL UNIQUE,
        email_verified_at timestamptz,
        password_hash text
      )`);
    await runner.query(`
      CREATE TABLE identities (
        provider text NOT NULL,
        subject text NOT NULL,
        user_id uuid NOT NULL,
        PRIMARY KEY (provider, subject)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE identities');
    await runner.query('DROP TABLE users');
  }
}
