// @bymax-one/nest-auth as in its README. It requires Nest 11 as a peer, and works on the Nest 12 of this repository.
import { Controller, Get, Injectable, Module, Query, Req, UseGuards } from '@nestjs/common';
import {
  AuthService,
  type AuthUser,
  BYMAX_AUTH_REDIS_CLIENT,
  BYMAX_AUTH_USER_REPOSITORY,
  BymaxAuthModule,
  type CreateUserData,
  JwtAuthGuard,
} from '@bymax-one/nest-auth';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { SpentController } from './counting';
import { ANSWER, SECRET, type Tokens, serve } from './serve';

const TENANT = 'bench';

interface Row {
  id: number;
  email: string;
  password_hash: string | null;
}

const userOf = ({ id, email, password_hash }: Row): AuthUser => ({
  id: String(id),
  email,
  name: 'Person',
  passwordHash: password_hash,
  role: 'user',
  status: 'active',
  tenantId: TENANT,
  emailVerified: false,
  mfaEnabled: false,
  lastLoginAt: null,
  createdAt: new Date(0),
});

/** Users of the table that our application reads, with the queries that a registration needs. */
@Injectable()
class People {
  private readonly pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 10 });

  findById({ id }: { id: string }): Promise<AuthUser | null> {
    return this.found('SELECT id, email, password_hash FROM people WHERE id = $1', [id]);
  }

  findByEmail({ email }: { email: string }): Promise<AuthUser | null> {
    return this.found('SELECT id, email, password_hash FROM people WHERE email = $1', [email]);
  }

  async create({ email, passwordHash }: CreateUserData): Promise<AuthUser> {
    const text = 'INSERT INTO people (email, password_hash) VALUES ($1, $2) RETURNING id, email, password_hash';
    return (await this.found(text, [email, passwordHash]))!;
  }

  private async found(text: string, values: unknown[]): Promise<AuthUser | null> {
    const { rows } = await this.pool.query<Row>(text, values);
    return rows[0] ? userOf(rows[0]) : null;
  }
}

@Controller()
class Routes {
  private readonly registered: Promise<Tokens>[] = [];

  constructor(private readonly auth: AuthService) {}

  @Get('guarded')
  @UseGuards(JwtAuthGuard)
  guarded() {
    return ANSWER;
  }

  /** Sessions of this many new users, the same at every call: a registration costs a password hash. */
  @Get('sessions')
  sessions(@Query('count') count: string, @Req() request: object): Promise<Tokens[]> {
    while (this.registered.length < Number(count)) this.registered.push(this.register(request));
    return Promise.all(this.registered.slice(0, Number(count)));
  }

  private async register(request: object): Promise<Tokens> {
    const email = `${crypto.randomUUID()}@example.com`;
    const user = { email, name: 'Person', password: 'correct-horse-battery', tenantId: TENANT };
    const { accessToken, rawRefreshToken } = await this.auth.register(user, request);
    return { access_token: accessToken, refresh_token: rawRefreshToken };
  }
}

@Module({
  imports: [
    BymaxAuthModule.registerAsync({
      useFactory: () => ({
        jwt: { secret: SECRET },
        // The same header as in the other applications with JWTs. Cookies would also need a parser.
        tokenDelivery: 'bearer',
        rateLimit: { clientIpSource: 'peer' },
        roles: { hierarchy: { user: [] } },
        // The least that it accepts. Guarded requests compute no hash, and fifty at the default cost exceed a time limit.
        password: { costFactor: 2 ** 14 },
      }),
      extraProviders: [
        { provide: BYMAX_AUTH_USER_REPOSITORY, useClass: People },
        { provide: BYMAX_AUTH_REDIS_CLIENT, useFactory: () => new Redis(process.env.REDIS_URL!) },
      ],
    }),
  ],
  controllers: [Routes, SpentController],
})
class BymaxApp {}

void serve(BymaxApp);
