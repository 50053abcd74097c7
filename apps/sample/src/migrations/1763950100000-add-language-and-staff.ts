import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AddLanguageAndStaff1763950100000 implements MigrationInterface {
  readonly name = 'AddLanguageAndStaff1763950100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE users ADD language text');
    await runner.query(`
      CREATE TABLE staff (
        id uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT staff_pkey PRIMARY KEY,
        handle text NOT NULL UNIQUE,
        password_hash text NOT NULL
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE staff');
    await runner.query('ALTER TABLE users DROP COLUMN language');
  }
}
