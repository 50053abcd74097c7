import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates `svc_revocations` and `svc_denylist_epochs`. */
export class CreateSvcRevocations1764200000000 implements MigrationInterface {
  readonly name = 'CreateSvcRevocations1764200000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE svc_revocations (
        id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT svc_revocations_pkey PRIMARY KEY,
        family_id text NOT NULL,
        expires_at timestamptz NOT NULL
      )`);
    await runner.query('CREATE INDEX svc_revocations_family ON svc_revocations (family_id)');
    await runner.query('CREATE INDEX svc_revocations_expiry ON svc_revocations (expires_at, id)');
    await runner.query(`
      CREATE TABLE svc_denylist_epochs (
        number bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT svc_denylist_epochs_pkey PRIMARY KEY,
        epoch uuid NOT NULL,
        began_at timestamptz NOT NULL
      )`);
    await runner.query('CREATE UNIQUE INDEX svc_denylist_epochs_epoch ON svc_denylist_epochs (epoch)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE svc_denylist_epochs');
    await runner.query('DROP TABLE svc_revocations');
  }
}
