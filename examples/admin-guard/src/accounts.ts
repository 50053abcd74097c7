import { withAuthColumns } from '@svc/auth';
import { Column, Entity, type MigrationInterface, PrimaryGeneratedColumn, type QueryRunner } from 'typeorm';

@Entity('customers')
export class Customer extends withAuthColumns() {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  name!: string;
}

@Entity('staff')
export class StaffMember extends withAuthColumns() {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  role!: 'support' | 'admin';
}

export class CreateAccounts1795000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const columns = 'id serial PRIMARY KEY, email text NOT NULL UNIQUE, password_hash text';
    await runner.query(`CREATE TABLE customers (${columns}, name text NOT NULL)`);
    await runner.query(`CREATE TABLE staff (${columns}, role text NOT NULL CHECK (role IN ('support', 'admin')))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE staff, customers');
  }
}
