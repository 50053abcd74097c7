import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateSample1763700100000 implements MigrationInterface {
  readonly name = 'CreateSample1763700100000';

  async up(runner: QueryRunner): Promise<void> {
    for (const [table, extra] of [
      ['users', 'name text NOT NULL,'],
      ['admins', ''],
    ]) {
      await runner.query(`
        CREATE TABLE ${table} (
          id uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT ${table}_pkey PRIMARY KEY,
          ${extra}
          email text NOT NULL,
          password_hash text
        )`);
      await runner.query(`CREATE UNIQUE INDEX ${table}_email ON ${table} (email)`);
    }
    await runner.query(`
      CREATE TABLE orders (
        id uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT orders_pkey PRIMARY KEY,
        user_id uuid NOT NULL,
        item text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
    await runner.query('CREATE INDEX orders_user ON orders (user_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['orders', 'admins', 'users']) await runner.query(`DROP TABLE ${table}`);
  }
}
