// better-auth with Nest as in its guides: a guard that gets the session of the request's cookie.
import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Module,
  Query,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import { type Options, betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { fromNodeHeaders } from 'better-auth/node';
import type { IncomingMessage } from 'node:http';
import { Pool } from 'pg';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { SpentController } from './counting';
import { ANSWER, SECRET, serve } from './serve';

/** The storage of sessions. By default better-auth reads the database at every request. */
const VARIANTS: Record<string, () => Promise<Partial<Options>> | Partial<Options>> = {
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
};

async function main(): Promise<void> {
  const auth = betterAuth({
    database: new Pool({ connectionString: process.env.DATABASE_URL, max: 10 }),
    secret: SECRET,
    baseURL: 'http://127.0.0.1',
    emailAndPassword: { enabled: true },
    ...(await VARIANTS[process.env.BENCH_VARIANT!]!()),
  });
  await (await getMigrations(auth.options)).runMigrations();

  /** Signs up a new user, which also signs in. Resolves to the headers that a browser sends afterwards. */
  const signedUp = async (): Promise<string> => {
    const email = `${crypto.randomUUID()}@example.com`;
    const body = { name: 'Person', email, password: 'correct-horse-battery' };
    const answer = await auth.api.signUpEmail({ body, asResponse: true });
    if (!answer.ok) throw new Error(`sign-up answered ${answer.status}`);
    return answer.headers
      .getSetCookie()
      .map((cookie) => cookie.split(';')[0])
      .join('; ');
  };
  const cookies: Promise<string>[] = [];

  @Injectable()
  class SessionGuard implements CanActivate {
    async canActivate(context: ExecutionContext): Promise<boolean> {
      const request = context.switchToHttp().getRequest<IncomingMessage & { session: unknown }>();
      const session = await auth.api.getSession({ headers: fromNodeHeaders(request.headers) });
      if (!session) throw new UnauthorizedException();
      request.session = session;
      return true;
    }
  }

  @Controller()
  class Routes {
    @Get('guarded')
    @UseGuards(SessionGuard)
    guarded() {
      return ANSWER;
    }

    /** Sessions of this many users, the same at every call: a sign-up costs a password hash. */
    @Get('sessions')
    sessions(@Query('count') count: string): Promise<string[]> {
      while (cookies.length < Number(count)) cookies.push(signedUp());
      return Promise.all(cookies.slice(0, Number(count)));
    }
  }

  @Module({ controllers: [Routes, SpentController] })
  class BetterAuthApp {}

  await serve(BetterAuthApp);
}

void main();
