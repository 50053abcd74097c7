import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates `svc_email_deliveries`. */
export class CreateSvcEmailDeliveries1764500000000 implements MigrationInterface {
  readonly name = 'CreateSvcEmailDeliveries1764500000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE svc_email_deliveries (
        id uuid NOT NULL CONSTRAINT svc_email_deliveries_pkey PRIMARY KEY,
        guard text NOT NULL,
        user_id text NOT NULL,
        email_hash text NOT NULL,
        created_at timestamptz NOT NULL
      )`);
    await runner.query('CREATE INDEX svc_email_deliveries_owner ON svc_email_deliveries (guard, user_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE svc_email_deliveries');
  }
}
