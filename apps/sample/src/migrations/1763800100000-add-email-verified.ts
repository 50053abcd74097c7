import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AddEmailVerified1763800100000 implements MigrationInterface {
  readonly name = 'AddEmailVerified1763800100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE users ADD email_verified_at timestamptz');
    // Existing users signed up before verification existed: they count as verified.
    await runner.query('UPDATE users SET email_verified_at = now()');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE users DROP COLUMN email_verified_at');
  }
}
