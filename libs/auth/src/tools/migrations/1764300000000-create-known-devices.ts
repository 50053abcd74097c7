import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates `svc_known_devices`. */
export class CreateSvcKnownDevices1764300000000 implements MigrationInterface {
  readonly name = 'CreateSvcKnownDevices1764300000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE svc_known_devices (
        id uuid NOT NULL CONSTRAINT svc_known_devices_pkey PRIMARY KEY,
        guard text NOT NULL,
        user_id text NOT NULL,
        device_hash text,
        session_id uuid NOT NULL,
        user_agent text,
        first_seen_at timestamptz NOT NULL,
        last_seen_at timestamptz NOT NULL,
        link_hash text,
        reported_at timestamptz,
        mail_due boolean NOT NULL DEFAULT false
      )`);
    await runner.query(
      'CREATE UNIQUE INDEX svc_known_devices_device ON svc_known_devices (guard, user_id, device_hash)',
    );
    await runner.query('CREATE UNIQUE INDEX svc_known_devices_link ON svc_known_devices (link_hash)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE svc_known_devices');
  }
}
