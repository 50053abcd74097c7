import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates `svc_trusted_devices`. */
export class CreateSvcTrustedDevices1764400000000 implements MigrationInterface {
  readonly name = 'CreateSvcTrustedDevices1764400000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE svc_trusted_devices (
        guard text NOT NULL,
        user_id text NOT NULL,
        id uuid NOT NULL,
        token_hash text NOT NULL,
        binding text NOT NULL,
        user_agent text,
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        CONSTRAINT svc_trusted_devices_pkey PRIMARY KEY (guard, user_id, id)
      )`);
    await runner.query('CREATE INDEX svc_trusted_devices_expiry ON svc_trusted_devices (expires_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE svc_trusted_devices');
  }
}
