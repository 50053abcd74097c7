import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates `svc_lockouts`. */
export class CreateSvcLockouts1763800000000 implements MigrationInterface {
  readonly name = 'CreateSvcLockouts1763800000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE svc_lockouts (
        id varchar(26) NOT NULL CONSTRAINT svc_lockouts_pkey PRIMARY KEY,
        purpose varchar(32) NOT NULL,
        subject varchar(255) NOT NULL,
        guard varchar(64) NOT NULL DEFAULT '',
        attempts int NOT NULL DEFAULT 0,
        locked_at timestamptz,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL
      )`);
    await runner.query('CREATE UNIQUE INDEX svc_lockouts_subject ON svc_lockouts (purpose, subject, guard)');
    await runner.query('CREATE INDEX svc_lockouts_locked ON svc_lockouts (locked_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE svc_lockouts');
  }
}
