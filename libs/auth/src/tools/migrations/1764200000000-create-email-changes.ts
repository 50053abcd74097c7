import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates `svc_email_changes`. */
export class CreateSvcEmailChanges1764200000000 implements MigrationInterface {
  readonly name = 'CreateSvcEmailChanges1764200000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE svc_email_changes (
        id uuid NOT NULL CONSTRAINT svc_email_changes_pkey PRIMARY KEY,
        guard text NOT NULL,
        user_id text NOT NULL,
        session_id text,
        old_email text,
        old_verified boolean NOT NULL,
        new_email text NOT NULL,
        state text NOT NULL,
        confirm_hash text NOT NULL,
        undo_hash text,
        password_fingerprint text NOT NULL,
        requested_at timestamptz NOT NULL,
        confirmed_at timestamptz,
        undone_at timestamptz,
        expires_at timestamptz NOT NULL,
        unusable_hash text,
        held_email text
      )`);
    await runner.query(
      `CREATE UNIQUE INDEX svc_email_changes_requested ON svc_email_changes (guard, user_id) WHERE state = 'requested'`,
    );
    await runner.query('CREATE INDEX svc_email_changes_owner ON svc_email_changes (guard, user_id)');
    await runner.query('CREATE INDEX svc_email_changes_held ON svc_email_changes (guard, held_email)');
    await runner.query('CREATE UNIQUE INDEX svc_email_changes_confirm ON svc_email_changes (confirm_hash)');
    await runner.query('CREATE UNIQUE INDEX svc_email_changes_undo ON svc_email_changes (undo_hash)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE svc_email_changes');
  }
}
