import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AddAdminRole1764900000000 implements MigrationInterface {
  readonly name = 'AddAdminRole1764900000000';

  async up(runner: QueryRunner): Promise<void> {
    // Who was an operator before roles existed may do everything; who is added later may do little.
    await runner.query(`ALTER TABLE admins ADD role text NOT NULL DEFAULT 'administrator'`);
    await runner.query(`ALTER TABLE admins ALTER role SET DEFAULT 'support'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE admins DROP COLUMN role');
  }
}
