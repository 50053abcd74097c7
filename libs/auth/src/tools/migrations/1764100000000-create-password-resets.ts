import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates `svc_password_resets`. */
export class CreateSvcPasswordResets1764100000000 implements MigrationInterface {
  readonly name = 'CreateSvcPasswordResets1764100000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE svc_password_resets (
        guard text NOT NULL,
        broker text NOT NULL DEFAULT '',
        user_id text NOT NULL,
        email_hash text NOT NULL,
        token_hash text NOT NULL,
        created_at timestamptz NOT NULL,
        password_fingerprint text NOT NULL DEFAULT '',
        slot smallint NOT NULL DEFAULT 1,
        undelivered boolean NOT NULL DEFAULT false,
        CONSTRAINT svc_password_resets_pkey PRIMARY KEY (guard, broker, user_id, slot)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE svc_password_resets');
  }
}
