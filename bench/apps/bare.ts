// The least that a guard with a denylist and a fresh user can do: no framework, no library.
import { Pool } from 'pg';
import { createSecretKey, randomUUID } from 'node:crypto';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { ANSWER, type Answer, SECRET, servePlain } from './serve';
import { signToken, verifyToken } from './tokens';

const KEY = createSecretKey(Buffer.from(SECRET));
const UNAUTHORIZED: Answer = [401, { message: 'Unauthorized' }];
const USER = { name: 'bare-user', text: 'SELECT * FROM people WHERE id = $1' };

const tokensOf = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ access_token: signToken(String(i + 1), randomUUID(), KEY) }));

async function main(): Promise<void> {
  const { client: redis } = await redisCache(process.env.REDIS_URL!);
  const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 10 });

  const guarded = async (authorization = ''): Promise<Answer> => {
    const claims = verifyToken(authorization.slice('Bearer '.length), KEY);
    if (!claims) return UNAUTHORIZED;
    const [[denied, epoch], users] = await Promise.all([
      redis.mGet([`bare:denied:${claims.fid}`, 'bare:epoch']),
      pool.query({ ...USER, values: [claims.sub] }),
    ]);
    return denied || epoch || !users.rows.length ? UNAUTHORIZED : [200, ANSWER];
  };
  servePlain((request, path, query) => {
    if (path === '/guarded') return guarded(request.headers.authorization);
    return path === '/sessions' ? [200, tokensOf(Number(query.get('count')))] : [404, {}];
  });
}

void main();
