// The minimum for a guard that reads a denylist, a user and a session: without a framework and without the library.
import { Pool } from 'pg';
import { createSecretKey, randomUUID } from 'node:crypto';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { ANSWER, type Answer, SECRET, servePlain } from './serve';
import { signToken, verifyToken } from './tokens';

const KEY = createSecretKey(Buffer.from(SECRET));
const UNAUTHORIZED: Answer = [401, { message: 'Unauthorized' }];
const USER = {
  name: 'bare-user',
  text: 'SELECT p.*, s.revoked_at FROM people p LEFT JOIN svc_sessions s ON s.id = $2 WHERE p.id = $1',
};

const tokensOf = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ access_token: signToken(String(i + 1), randomUUID(), KEY) }));

async function main(): Promise<void> {
  const { client: redis } = await redisCache(process.env.REDIS_URL!);
  const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 10 });

  const guarded = async (authorization = ''): Promise<Answer> => {
    const claims = verifyToken(authorization.slice('Bearer '.length), KEY);
    if (!claims) return UNAUTHORIZED;
    const [denials, { rows }] = await Promise.all([
      redis.mGet([`bare:token:${claims.jti}`, `bare:session:${claims.fid}`]),
      pool.query<{ revoked_at: Date | null }>({ ...USER, values: [claims.sub, claims.fid] }),
    ]);
    const isDenied = denials.some((denial) => denial !== null) || rows[0]?.revoked_at !== null;
    return isDenied ? UNAUTHORIZED : [200, ANSWER];
  };
  servePlain((request, path, query) => {
    if (path === '/guarded') return guarded(request.headers.authorization);
    return path === '/sessions' ? [200, tokensOf(Number(query.get('count')))] : [404, {}];
  });
}

void main();
