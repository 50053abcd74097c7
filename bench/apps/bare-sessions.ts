import { Client, Pool } from 'pg';
import {
  type KeyObject,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
  randomUUID,
  timingSafeEqual,
} from 'node:crypto';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { sessionStatements } from '../../libs/auth/src/features/sessions/session.sql';
import { COUNT, countArguments } from '../../libs/auth/src/foundation/security-store/redis-security-store';
import { PEOPLE, SECRET, type Tokens } from './serve';
import { type Claims, signToken, verifyToken } from './tokens';

const KEY = createSecretKey(Buffer.from(SECRET));
const LIMIT_SECONDS = 60;

const USER = {
  name: 'bare-user',
  text: 'SELECT p.*, s.revoked_at FROM people p LEFT JOIN svc_sessions s ON s.id = $2 WHERE p.id = $1',
};
// The statements of the library, so that a refresh keeps the same promises: the comparison shows what the rest costs.
const { find, exchangeOne } = sessionStatements({ table: () => 'svc_sessions' } as never, null);
const SESSION = { name: 'bare-session', text: find };
const ROTATE = { name: 'bare-rotate', text: exchangeOne };
const STORE_TIMEOUT_S = 0.8;
/** The guard, the offset of its clock, and its idle time: none. */
const GUARD = ['bare', '0 milliseconds', null];
const INSERT = {
  name: 'bare-insert',
  text: `INSERT INTO svc_sessions (id, guard, user_id, salt, auth_time, expires_at, last_used_at, created_at)
         VALUES ($1, 'bare', $2, $3, now(), now() + interval '30 days', now(), now())`,
};

type Row = Record<string, unknown>;
interface Statement {
  name: string;
  text: string;
  values?: unknown[];
}

/**
 * The least work of a guarded request and of a refresh that read a denylist, a user and a session: `node:crypto`, prepared
 * statements and one round trip to Redis. A guarded request has the shortest statement, a refresh those of the library and the
 * script of its limit. Their input is not checked, and a token is not honoured a second time.
 */
export class BareSessions {
  private constructor(
    private readonly redis: Awaited<ReturnType<typeof redisCache>>['client'],
    private readonly query: (statement: Statement) => Promise<{ rows: Row[]; rowCount: number | null }>,
  ) {}

  /** `pool`: at most 10 connections, each with one statement at a time. `pipelined`: one connection that waits for nothing. */
  static async open(connection: 'pool' | 'pipelined'): Promise<BareSessions> {
    const { client: redis } = await redisCache(process.env.REDIS_URL!);
    const connectionString = process.env.DATABASE_URL;
    if (connection === 'pool') {
      const pool = new Pool({ connectionString, max: 10 });
      return new BareSessions(redis, (statement) => pool.query(statement));
    }
    const client = new Client({ connectionString, pipeline: true } as object);
    await client.connect();
    return new BareSessions(redis, (statement) => client.query(statement));
  }

  /** The user of a request; undefined if its token or its session is not valid. */
  async authenticate(authorization = ''): Promise<Row | undefined> {
    const claims = verifyToken(authorization.slice('Bearer '.length), KEY);
    if (!claims) return undefined;
    const [denials, { rows }] = await Promise.all([
      this.denials(claims),
      this.query({ ...USER, values: [claims.sub, claims.fid] }),
    ]);
    const isDenied = denials.some((denial) => denial !== null) || rows[0]?.revoked_at !== null;
    return isDenied ? undefined : rows[0];
  }

  /** Counts a refresh of a client with the script of the library. */
  async count(client: string): Promise<void> {
    const limit = { key: `bare:limit:${client}`, max: 1e9, seconds: LIMIT_SECONDS };
    await this.redis.sendCommand(['EVAL', COUNT, '1', limit.key, ...countArguments([limit], false)]);
  }

  /** Exchanges a refresh token for the next one; undefined if it is not the current token of a valid session. */
  async refresh(token: string): Promise<Tokens | undefined> {
    const presented = Buffer.from(token, 'base64url');
    const fid = uuidOf(presented.subarray(0, 16));
    const [[denial], { rows }] = await Promise.all([
      this.redis.mGet([`bare:session:${fid}`]),
      this.query({ ...SESSION, values: [JSON.stringify([fid]), ...GUARD] }),
    ]);
    const [session] = rows as [{ salt: Buffer; userId: string; revokedAt: number; expiresAt: number; now: number }?];
    if (!session || denial !== null || session.revokedAt || session.expiresAt < session.now) return undefined;
    const generation = presented.readUInt32BE(16);
    const key = refreshKey(session.salt);
    if (!timingSafeEqual(refreshMac(presented.subarray(0, 20), key), presented.subarray(20))) return undefined;
    const next = {
      n: 0,
      id: fid,
      seen: generation,
      generation: generation + 1,
      more: 0,
      dropped: 1,
      added: 1,
      isLate: false,
    };
    const change = JSON.stringify([{ ...next, until: session.now + STORE_TIMEOUT_S }]);
    const { rowCount } = await this.query({ ...ROTATE, values: [change, ...GUARD] });
    return rowCount === 1 ? tokensOf(session.userId, fid, generation + 1, key) : undefined;
  }

  /** Starts sessions of one user after the other. */
  start(count: number): Promise<Tokens[]> {
    return Promise.all(
      Array.from({ length: count }, async (_, i) => {
        const [fid, userId, salt] = [randomUUID(), String((i % PEOPLE) + 1), randomBytes(32)];
        await this.query({ ...INSERT, values: [fid, userId, salt] });
        return tokensOf(userId, fid, 0, refreshKey(salt));
      }),
    );
  }

  private denials({ jti, fid }: Claims): Promise<(string | null)[]> {
    return this.redis.mGet([`bare:token:${jti}`, `bare:session:${fid}`]);
  }
}

const refreshKey = (salt: Buffer): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync('sha256', KEY, salt, 'bare.refresh', 32)));

const refreshMac = (signed: Buffer, key: KeyObject): Buffer => createHmac('sha256', key).update(signed).digest();

function tokensOf(userId: string, fid: string, generation: number, key: KeyObject): Tokens {
  const signed = Buffer.alloc(20);
  signed.write(fid.replaceAll('-', ''), 'hex');
  signed.writeUInt32BE(generation, 16);
  const refresh = Buffer.concat([signed, refreshMac(signed, key)]).toString('base64url');
  return { access_token: signToken(userId, fid, KEY), refresh_token: refresh };
}

const uuidOf = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
