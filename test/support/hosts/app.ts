import type { INestApplication, ModuleMetadata, Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Auth, AuthEvents, type AuthModuleOptions, Clock, PasswordHasher, SecurityStore } from '@svc/auth';
import { MovableClock } from '@svc/auth/testing';
import { setImmediate as nextTurn } from 'node:timers/promises';
import request from 'supertest';
import { DataSource } from 'typeorm';
import { redisCache } from '../../../apps/sample/src/redis-cache';
import { httpAdapter } from './adapter';
import { createDatabase, emptyDatabase, executed } from '../stores/database';
import { HostModule } from './host.module';
import { Operator, PASSWORD, Person } from './user-entities';
import { sharedRedisUrl } from '../stores/shared-redis';

export { MovableClock };

type RedisClient = Awaited<ReturnType<typeof redisCache>>['client'];

export interface Tokens {
  access_token: string;
  refresh_token: string;
  expires_in: number;
}

export interface TestAppOptions {
  options?: Partial<AuthModuleOptions>;
  /** Replaces the shared Redis. */
  redisUrl?: string;
  /** What a host does between the creation and the start of its application. */
  prepare?: (app: INestApplication) => void;
  /** Whether the application reads client addresses from `X-Forwarded-For`. */
  behindProxy?: boolean;
  /** Whether the application keeps the bytes of a request. */
  rawBody?: boolean;
  /** Selects Fastify or Express for this application only. */
  fastify?: boolean;
  /** Replaces the host's own controllers. */
  controllers?: Type[];
  /** Additional user entities. */
  entities?: Type[];
  /** Additional modules that the host imports. */
  imports?: ModuleMetadata['imports'];
  /** Uses an existing database instead of a new one. */
  databaseUrl?: string;
  /** Statements that create tables of the host before the application starts. */
  tables?: string;
  /** Connection pool options that replace those of the test host. */
  pool?: object;
  /** URL of a read replica of the data source. */
  replicaUrl?: string;
}

/** The keys that record that no data was lost. An application writes them when it starts, so a reset keeps them. */
const KEPT_KEYS = /svc:(store|dl:complete|db:.+)$/;

/** A running host application with helpers for requests and data. */
export class TestApp {
  readonly paths: Record<string, string> = { api: '/auth', admin: '/admin/auth' };
  readonly clock = new MovableClock();
  private running?: { app: INestApplication; databaseUrl: string; redis?: RedisClient };
  private readonly cleanUp: (() => Promise<unknown>)[] = [];
  private readonly onReset: (() => unknown)[] = [];

  private constructor() {}

  static async start(options: TestAppOptions = {}): Promise<TestApp> {
    const t = new TestApp();
    await t.run(options);
    return t;
  }

  /**
   * One application for a whole file, or for a `describe` block. {@link reset} runs before each test. Its members are
   * available from the first hook on.
   *
   * @param options a function, if the options are known only when the tests run
   */
  static forFile(options: TestAppOptions | (() => TestAppOptions | Promise<TestAppOptions>) = {}): TestApp {
    const t = new TestApp();
    beforeAll(async () => t.run(typeof options === 'function' ? await options() : options));
    beforeEach(() => t.reset());
    afterAll(() => t.stop());
    return t;
  }

  private async run(options: TestAppOptions): Promise<void> {
    try {
      await this.open(options);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  private async open({
    options = {},
    redisUrl = sharedRedisUrl(),
    databaseUrl,
    controllers,
    entities,
    imports = [],
    prepare,
    behindProxy,
    rawBody = false,
    fastify,
    tables,
    pool,
    replicaUrl,
  }: TestAppOptions): Promise<void> {
    const database = databaseUrl ? { url: databaseUrl, drop: async () => undefined } : await createDatabase();
    this.cleanUp.unshift(database.drop);
    if (tables) await executed(tables, database.url);
    const redis = redisUrl ? await redisCache(redisUrl) : undefined;
    this.cleanUp.unshift(async () => redis?.client.disconnect());
    // Other tests mail the same addresses, in the same Redis and with the same key.
    const mails = (await redis?.client.keys('*svc:rl:mail-*')) ?? [];
    if (mails.length > 0) await redis?.client.del(mails);
    const testing = await Test.createTestingModule({
      imports: [
        HostModule.with(database.url, { cache: redis?.cache, ...options }, controllers, entities, pool, replicaUrl),
        ...imports,
      ],
    })
      .overrideProvider(Clock)
      .useValue(this.clock)
      .compile();
    const app = testing.createNestApplication(httpAdapter({ behindProxy, fastify }), { logger: false, rawBody });
    prepare?.(app);
    this.running = { app, databaseUrl: database.url, redis: redis?.client };
    this.cleanUp.unshift(() => app.close());
    await app.listen(0, '127.0.0.1');
  }

  async stop(): Promise<void> {
    for (const step of this.cleanUp.splice(0)) await step();
  }

  /** Restores the state after the start: no rows, no keys in Redis, no listeners, the real clock, and ids from 1. */
  async reset(): Promise<void> {
    await this.calm();
    for (const step of this.onReset.splice(0)) step();
    this.clock.reset();
    const { redis } = this.started;
    const keys = (await redis?.keys('*'))?.filter((key) => !KEPT_KEYS.test(key)) ?? [];
    await Promise.all([emptyDatabase(this.database), keys.length > 0 && redis?.del(keys)]);
  }

  /**
   * Waits until background work after responses has finished, such as mails: two ticks without a statement, each after an
   * answer of Redis.
   */
  async calm(): Promise<void> {
    const pool = (this.database.driver as unknown as { master: { idleCount: number; totalCount: number } }).master;
    const store = this.app.get(SecurityStore);
    for (let turns = 0; turns < 2; turns = pool.idleCount === pool.totalCount ? turns + 1 : 0) {
      await store.getMany(['svc:none']).catch(() => undefined);
      await nextTurn();
    }
  }

  get app(): INestApplication {
    return this.started.app;
  }

  get databaseUrl(): string {
    return this.started.databaseUrl;
  }

  private get started() {
    if (!this.running) throw new Error('a hook starts the application: use it only in hooks and tests');
    return this.running;
  }

  get http() {
    return request(this.app.getHttpServer());
  }

  get auth(): Auth {
    return this.app.get(Auth);
  }

  get database(): DataSource {
    return this.app.get(DataSource);
  }

  /** Creates a user with the usual password. */
  async person(email: string, guard = 'api'): Promise<string> {
    const passwordHash = await this.app.get(PasswordHasher).hash(PASSWORD);
    const entity: typeof Person = guard === 'api' ? Person : Operator;
    const { id } = await this.database.getRepository(entity).save({ email, passwordHash });
    return String(id);
  }

  login(email: string, password: unknown = PASSWORD, guard = 'api') {
    return this.http.post(`${this.paths[guard]}/login`).send({ email, password });
  }

  /** Creates a user and starts a session. */
  async session(email = 'ada@example.com', guard = 'api'): Promise<Tokens> {
    const { body } = await this.login(email, PASSWORD, guard).expect(200);
    return body;
  }

  refresh(token: unknown, guard = 'api') {
    return this.http.post(`${this.paths[guard]}/refresh`).send({ refresh_token: token });
  }

  get(path: string, accessToken?: string) {
    const call = this.http.get(path);
    return accessToken === undefined ? call : call.set('Authorization', `Bearer ${accessToken}`);
  }

  call(method: 'post' | 'delete', path: string, accessToken: string) {
    return this.http[method](path).set('Authorization', `Bearer ${accessToken}`);
  }

  /** Records every event of a class until the next reset. */
  recorded<E extends object>(event: Type<E>): E[] {
    const events: E[] = [];
    this.on(event, (one) => events.push(one));
    return events;
  }

  /** Listens for events of a class until the next reset. */
  on<E extends object>(event: Type<E>, listener: (event: E) => unknown): void {
    this.onReset.push(this.app.get(AuthEvents).on(event, listener));
  }
}

/** The claims of a JWT, unverified. */
export const claimsOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
