import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates `svc_passkeys`. */
export class CreateSvcPasskeys1764000000000 implements MigrationInterface {
  readonly name = 'CreateSvcPasskeys1764000000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE svc_passkeys (
        credential_id varchar(1364) NOT NULL CONSTRAINT svc_passkeys_pkey PRIMARY KEY,
        user_id text NOT NULL,
        user_handle varchar(88),
        guard text,
        name varchar(255),
        public_key text NOT NULL,
        sign_count bigint NOT NULL DEFAULT 0,
        transports json NOT NULL DEFAULT '[]',
        aaguid uuid NOT NULL,
        backup_eligible boolean NOT NULL,
        backed_up boolean NOT NULL,
        last_used_at timestamptz,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL
      )`);
    await runner.query('CREATE INDEX svc_passkeys_owner ON svc_passkeys (guard, user_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE svc_passkeys');
  }
}
