import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates `svc_sessions`. */
export class CreateSvcSessions1763700000000 implements MigrationInterface {
  readonly name = 'CreateSvcSessions1763700000000';

  async up(runner: QueryRunner): Promise<void> {
    // `holders`: number of requests that were answered with the current refresh token.
    // A refresh changes no indexed column. With room left in each page its new row version stays in the same page and
    // needs no new index entry (HOT update).
    await runner.query(`
      CREATE TABLE svc_sessions (
        id uuid NOT NULL CONSTRAINT svc_sessions_pkey PRIMARY KEY,
        user_id text NOT NULL,
        guard text NOT NULL,
        salt bytea NOT NULL,
        scope text,
        amr text[] NOT NULL DEFAULT '{}',
        auth_time timestamptz NOT NULL,
        generation int NOT NULL DEFAULT 0,
        recent timestamptz[] NOT NULL DEFAULT '{}',
        holders int NOT NULL DEFAULT 1,
        expires_at timestamptz NOT NULL,
        revoked_at timestamptz,
        last_used_at timestamptz NOT NULL,
        idle_timeout int,
        remembered boolean NOT NULL DEFAULT true,
        ip text,
        user_agent text,
        label text,
        passkey_id text,
        created_at timestamptz NOT NULL
      ) WITH (fillfactor = 80)`);
    await runner.query(
      'CREATE INDEX svc_sessions_live ON svc_sessions (guard, user_id, created_at, id) WHERE revoked_at IS NULL',
    );
    await runner.query(
      'CREATE INDEX svc_sessions_ended ON svc_sessions (guard, user_id, created_at, id) WHERE revoked_at IS NOT NULL',
    );
    await runner.query(
      'CREATE INDEX svc_sessions_revoked ON svc_sessions (revoked_at, id) WHERE revoked_at IS NOT NULL',
    );
    await runner.query('CREATE INDEX svc_sessions_expiry ON svc_sessions (expires_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE svc_sessions');
  }
}
