import { dataSourceOf } from '../test/support/database';
import { PEOPLE } from './apps/serve';
import type { Stores } from './stores';

const SESSIONS = 20_000;

/** Fills the tables of tokens, ours and the hand-rolled ones, as use would: empty ones are another kind of work. */
export async function liveIn({ databaseUrl }: Stores): Promise<void> {
  const source = await dataSourceOf(databaseUrl).initialize();
  await source.query(`
    INSERT INTO svc_sessions (id, guard, user_id, auth_time, expires_at, last_used_at, created_at)
    SELECT gen_random_uuid(), 'api', 'former-' || n % ${PEOPLE}, now(), now() + interval '30 days', now(), now()
      FROM generate_series(1, ${SESSIONS}) n`);
  await source.query(`
    INSERT INTO svc_refresh_tokens (family_id, token_hash, created_at, rotated_at)
    SELECT id, encode(sha256((id::text || n)::bytea), 'hex'), now(), CASE n WHEN 1 THEN now() END
      FROM svc_sessions, generate_series(1, 2) n`);
  await source.query(`
    INSERT INTO hand_rolled_tokens (user_id, token_hash, expires_at)
    SELECT 1 + n % ${PEOPLE}, encode(sha256(n::text::bytea), 'hex'), now() + interval '30 days'
      FROM generate_series(1, ${SESSIONS}) n`);
  await source.query('VACUUM ANALYZE');
  await source.destroy();
}
