import { Controller, type DynamicModule, Get, type INestApplication } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  Auth,
  AuthHealth,
  AuthModule,
  type AuthModuleOptions,
  Authenticated,
  PasswordHasher,
  Pruning,
  type SessionTokens,
  type StoredCredentials,
  UserProvider,
  authEntities,
} from '@svc/auth';
import { Pool } from 'pg';
import { startHost } from '../support/hosts/adapter';
import { ADMIN_AUDIENCE, hostOptions } from '../support/hosts/host.module';
import { send } from '../support/hosts/processes';
import { ADA, Operator, PASSWORD, Person } from '../support/hosts/user-entities';
import { createDatabase } from '../support/stores/database';

interface Row {
  id: string;
  email: string;
}

/** The users of a table in plain SQL, as of a host with Prisma or Drizzle. */
class Rows extends UserProvider<Row> {
  constructor(
    private readonly pool: Pool,
    private readonly table: 'people' | 'operators',
  ) {
    super();
  }

  private async one(column: 'id' | 'email', value: string): Promise<(Row & { password_hash: string }) | null> {
    const statement = `SELECT id::text, email, password_hash FROM ${this.table} WHERE ${column}::text = $1`;
    return (await this.pool.query(statement, [value])).rows[0] ?? null;
  }

  findById = async (id: string): Promise<Row | null> => this.one('id', id);
  idOf = ({ id }: Row): string => id;
  passwordHashOf = async (id: string): Promise<string | null> => (await this.one('id', id))?.password_hash ?? null;
  savePasswordHash = async (): Promise<boolean> => true;
  override identifierOf = ({ email }: Row): string => email;
  override delete = async (): Promise<boolean> => true;

  async findByIdentifier(identifier: string): Promise<StoredCredentials<Row> | null> {
    const found = await this.one('email', identifier);
    return found && { user: found, passwordHash: found.password_hash };
  }
}

@Controller('api')
class OfUsers {
  @Get()
  @Authenticated()
  read() {
    return {};
  }
}

@Controller('admin')
class OfStaff {
  @Get()
  @Authenticated('admin')
  read() {
    return {};
  }
}

const MOUNTED = [true, false];
const STORES = ['pool', 'dataSource'];
/** Where the users of the default guard and, after a plus sign, those of the guard `admin` are. */
const USERS = [
  'entity',
  'provider',
  'entity + entity',
  'provider + provider',
  'entity + provider',
  'provider + entity',
];

const COMBINATIONS = MOUNTED.flatMap((routes) =>
  STORES.flatMap((store) => USERS.map((users) => [routes, store, users] as const)),
);

describe('a host', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let pool: Pool;
  let app: INestApplication | undefined;

  beforeAll(async () => {
    database = await createDatabase();
    pool = new Pool({ connectionString: database.url });
  });
  afterEach(async () => {
    await app?.close();
    app = undefined;
  });
  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  const sourceWith = (entities: (typeof authEntities)[number][]): DynamicModule =>
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: database.url,
      entities,
      installExtensions: false,
      retryAttempts: 0,
    });

  const usersOf = (kind: string, entity: typeof Person | typeof Operator, table: 'people' | 'operators') =>
    kind === 'entity' ? { entity } : { provider: { useFactory: () => new Rows(pool, table) } };

  async function start(
    { routes, users }: { routes: boolean; users: string },
    store: Partial<AuthModuleOptions>,
    source?: DynamicModule,
  ): Promise<INestApplication> {
    const [own, staff] = users.split(' + ');
    const { guards: _guards, ...options } = hostOptions({ routes, users: usersOf(own!, Person, 'people'), ...store });
    const admin = staff && {
      path: 'admin/auth',
      audience: ADMIN_AUDIENCE,
      users: usersOf(staff, Operator, 'operators'),
    };
    return startHost({
      module: class Host {},
      imports: [...(source ? [source] : []), AuthModule.forRoot({ ...options, ...(admin && { guards: { admin } }) })],
      controllers: [OfUsers, ...(admin ? [OfStaff] : [])],
    });
  }

  it.each(COMBINATIONS)(
    'with routes: %s, a %s, and users in %s has sessions from their start to their end',
    async (routes, store, users) => {
      app = await (store === 'pool'
        ? start({ routes, users }, { pool })
        : start({ routes, users }, {}, sourceWith([...authEntities, Person, Operator])));
      const url = await app.getUrl();
      const hash = await app.get(PasswordHasher).hash(PASSWORD);
      for (const table of ['people', 'operators'])
        await pool.query(
          `INSERT INTO ${table} (id, email, password_hash) VALUES (7, $1, $2)
           ON CONFLICT (id) DO UPDATE SET password_hash = $2`,
          [ADA, hash],
        );
      const guards = [['api', 'auth'] as const, ['admin', 'admin/auth'] as const].slice(0, users.split(' + ').length);
      for (const [guard, path] of guards) {
        const auth = app.get(Auth).guard(guard);
        const status = async (token: string) => (await send(`${url}/${guard}`, 'GET', undefined, token)).status;
        const request = (token = '') => ({ headers: { authorization: `Bearer ${token}` }, ip: '203.0.113.7' });

        const first = await auth.startSession(7);
        expect(await status(first.accessToken)).toBe(200);
        const next = await auth.sessions.refresh(first.refreshToken, request());
        expect(await status(next.accessToken)).toBe(200);
        await auth.sessions.logout(request(next.accessToken));
        expect(await status(next.accessToken)).toBe(401);

        const second = (await auth.login.attempt({ identifier: ADA, password: PASSWORD }, request())) as SessionTokens;
        await auth.revokeAll(7);
        expect(await status(second.accessToken)).toBe(401);

        const login = await send(`${url}/${path}/login`, 'POST', { email: ADA, password: PASSWORD });
        expect(login.status).toBe(routes ? 200 : 404);
        if (!routes) continue;
        expect((await send(`${url}/${path}/logout`, 'POST', {}, login.body.access_token)).status).toBe(204);
        expect(await status(login.body.access_token!)).toBe(401);
      }
      // PostgreSQL, the tables, the store and the keys.
      expect(app.get(AuthHealth).indicators()).toHaveLength(4);
      expect(await app.get(Pruning).run()).toMatchObject({ sessions: 0 });
    },
  );

  it.each(MOUNTED.flatMap((routes) => USERS.slice(0, 2).map((users) => [routes, users] as const)))(
    'with routes: %s and users in a %s does not start without a store that has the tables',
    async (routes, users) => {
      await expect(start({ routes, users }, {})).rejects.toThrow(
        /TypeOrmModule\.forRoot|The data source has no entities/,
      );
      const without = start({ routes, users }, {}, sourceWith([Person]));
      await expect(without).rejects.toThrow(/The data source has no entities Session, .* Add \.\.\.authEntities/);
    },
  );
});
