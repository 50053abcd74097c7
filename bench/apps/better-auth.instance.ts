import { type BetterAuth, type Options, betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { Pool } from 'pg';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { SECRET } from './serve';

/** The storage of sessions. By default better-auth reads the database at every request. */
const VARIANTS = {
  database: () => ({}),
  redis: async () => {
    const { client } = await redisCache(process.env.REDIS_URL!);
    return {
      secondaryStorage: {
        get: (key) => client.get(key),
        set: (key, value, ttl) => (ttl ? client.set(key, value, { EX: ttl }) : client.set(key, value)),
        delete: (key) => client.del(key),
      },
    };
  },
  // Longer than any sample: clients that ignore Set-Cookie keep the cookies that they got first.
  cookie: () => ({ session: { cookieCache: { enabled: true, maxAge: 3600 } } }),
} satisfies Record<string, () => Promise<Partial<Options>> | Partial<Options>>;

export type Variant = keyof typeof VARIANTS;

/** An instance of better-auth with its tables, and the cookies of signed-in users. */
export class BetterAuthInstance {
  private readonly cookies: Promise<string>[] = [];

  private constructor(readonly auth: BetterAuth) {}

  static async open(variant: Variant): Promise<BetterAuthInstance> {
    const auth = betterAuth({
      database: new Pool({ connectionString: process.env.DATABASE_URL, max: 10 }),
      secret: SECRET,
      baseURL: 'http://127.0.0.1',
      emailAndPassword: { enabled: true },
      ...(await VARIANTS[variant]()),
    });
    await (await getMigrations(auth.options)).runMigrations();
    return new BetterAuthInstance(auth);
  }

  /** Sessions of this many users, the same at every call: a sign-up costs a password hash. */
  sessions(count: number): Promise<string[]> {
    while (this.cookies.length < count) this.cookies.push(this.signedUp());
    return Promise.all(this.cookies.slice(0, count));
  }

  /** Signs up a new user, which also signs in. Resolves to the headers that a browser sends afterwards. */
  private async signedUp(): Promise<string> {
    const email = `${crypto.randomUUID()}@example.com`;
    const body = { name: 'Person', email, password: 'correct-horse-battery' };
    const answer = await this.auth.api.signUpEmail({ body, asResponse: true });
    if (!answer.ok) throw new Error(`sign-up answered ${answer.status}`);
    return answer.headers
      .getSetCookie()
      .map((cookie) => cookie.split(';')[0])
      .join('; ');
  }
}
