import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates `svc_sessions` and `svc_refresh_tokens`. */
export class CreateSvcSessions1763700000000 implements MigrationInterface {
  readonly name = 'CreateSvcSessions1763700000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE svc_sessions (
        id uuid NOT NULL CONSTRAINT svc_sessions_pkey PRIMARY KEY,
        user_id text NOT NULL,
        guard text NOT NULL,
        amr text[] NOT NULL DEFAULT '{}',
        auth_time timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        revoked_at timestamptz,
        last_used_at timestamptz NOT NULL,
        ip text,
        user_agent text,
        label text,
        created_at timestamptz NOT NULL
      )`);
    await runner.query('CREATE INDEX svc_sessions_owner ON svc_sessions (guard, user_id)');
    await runner.query('CREATE INDEX svc_sessions_expiry ON svc_sessions (expires_at)');
    await runner.query(`
      CREATE TABLE svc_refresh_tokens (
        id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT svc_refresh_tokens_pkey PRIMARY KEY,
        family_id uuid NOT NULL
          CONSTRAINT svc_refresh_tokens_family_fkey REFERENCES svc_sessions (id) ON DELETE CASCADE,
        token_hash text NOT NULL,
        previous_id bigint,
        scope text,
        rotated_at timestamptz,
        created_at timestamptz NOT NULL
      )`);
    await runner.query('CREATE UNIQUE INDEX svc_refresh_tokens_hash ON svc_refresh_tokens (token_hash)');
    await runner.query('CREATE INDEX svc_refresh_tokens_family ON svc_refresh_tokens (family_id)');
    await runner.query(
      'CREATE INDEX svc_refresh_tokens_live ON svc_refresh_tokens (family_id) WHERE rotated_at IS NULL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE svc_refresh_tokens');
    await runner.query('DROP TABLE svc_sessions');
  }
}
