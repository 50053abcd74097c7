import type { INestApplication, ModuleMetadata, Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Auth, type AuthModuleOptions, Clock, PasswordHasher } from '@svc/auth';
import { EventRecorder, MovableClock } from '@svc/auth/testing';
import request from 'supertest';
import { DataSource } from 'typeorm';
import { redisCache } from '../../apps/sample/src/redis-cache';
import { httpAdapter } from './adapter';
import { createDatabase } from './database';
import { HostModule } from './host.module';
import { Operator, PASSWORD, Person } from './people';
import { sharedRedisUrl } from './shared-redis';

export { MovableClock };

export interface Tokens {
  access_token: string;
  refresh_token: string;
  expires_in: number;
}

export interface TestAppOptions {
  options?: Partial<AuthModuleOptions>;
  /** Replaces the shared Redis. */
  redisUrl?: string;
  /** What a host does between creating and starting its application. */
  prepare?: (app: INestApplication) => void;
  /** Whether clients say their address in `X-Forwarded-For`. */
  behindProxy?: boolean;
  /** Runs this one on Fastify, or on Express, whatever the others run on. */
  fastify?: boolean;
  /** Replaces the host's own controllers. */
  controllers?: Type[];
  /** Users of the test's own, beside the usual ones. */
  entities?: Type[];
  /** What the host imports besides. */
  imports?: ModuleMetadata['imports'];
  /** Uses an existing database instead of one of its own. */
  databaseUrl?: string;
  /** Options of the connection pool, in the place of those of the test host. */
  pool?: object;
}

/** A running host application and the verbs tests speak. */
export class TestApp {
  readonly paths: Record<string, string> = { api: '/auth', admin: '/admin/auth' };

  private constructor(
    readonly app: INestApplication,
    readonly clock: MovableClock,
    readonly databaseUrl: string,
    private readonly cleanUp: (() => Promise<unknown>)[],
  ) {}

  static async start({
    options = {},
    redisUrl = sharedRedisUrl(),
    databaseUrl,
    controllers,
    entities,
    imports = [],
    prepare,
    behindProxy,
    fastify,
    pool,
  }: TestAppOptions = {}): Promise<TestApp> {
    const database = databaseUrl ? { url: databaseUrl, drop: async () => undefined } : await createDatabase();
    const redis = redisUrl ? await redisCache(redisUrl) : undefined;
    const clock = new MovableClock();
    const leave = [async () => redis?.client.disconnect(), database.drop];
    const testing = await Test.createTestingModule({
      imports: [
        HostModule.with(database.url, { cache: redis?.cache, ...options }, controllers, entities, pool),
        ...imports,
      ],
    })
      .overrideProvider(Clock)
      .useValue(clock)
      .compile()
      .catch(async (error: unknown) => {
        for (const step of leave) await step();
        throw error;
      });
    const app = testing.createNestApplication(httpAdapter({ behindProxy, fastify }), { logger: false });
    prepare?.(app);
    const started = new TestApp(app, clock, database.url, [() => app.close(), ...leave]);
    try {
      await app.listen(0, '127.0.0.1');
    } catch (error) {
      await started.stop();
      throw error;
    }
    return started;
  }

  async stop(): Promise<void> {
    for (const step of this.cleanUp) await step();
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

  /** Starts a session for a user of its own; the usual way into a test. */
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

  /** Records every event of a class. */
  recorded<E extends object>(event: Type<E>): E[] {
    return new EventRecorder(this.app, event).all as E[];
  }
}

/** The claims of a JWT, unverified. */
export const claimsOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
