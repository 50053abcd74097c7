import { dataSourceOf } from '../test/support/stores/database';
import { PEOPLE } from './apps/serve';
import type { Stores } from './stores';

const SESSIONS = 20_000;

/** Fills the session table of the library and the token table of the hand-written application: empty ones cost less. */
export async function fillTables({ databaseUrl }: Stores): Promise<void> {
  const source = await dataSourceOf(databaseUrl).initialize();
  await source.query(`
    INSERT INTO svc_sessions (id, guard, user_id, salt, auth_time, generation, expires_at, last_used_at, created_at)
    SELECT gen_random_uuid(), 'api', 'former-' || n % ${PEOPLE}, sha256(n::text::bytea), now(), 1,
           now() + interval '30 days', now(), now()
      FROM generate_series(1, ${SESSIONS}) n`);
  await source.query(`
    INSERT INTO hand_rolled_tokens (user_id, token_hash, expires_at)
    SELECT 1 + n % ${PEOPLE}, encode(sha256(n::text::bytea), 'hex'), now() + interval '30 days'
      FROM generate_series(1, ${SESSIONS}) n`);
  await source.query('VACUUM ANALYZE');
  await source.destroy();
}
