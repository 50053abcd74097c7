import { Controller, Get, type INestApplication, Module } from '@nestjs/common';
import { AuthModule, type AuthModuleOptions, Authenticated, UserProvider } from '@svc/auth';
import request from 'supertest';
import { redisCache } from '../../../apps/sample/src/redis-cache';
import { startHost } from './adapter';
import { eventually } from '../runtime/eventually';
import { SECRET } from './host.module';

/** The service has no users: it accepts every subject of a valid token as a user. */
export class SubjectProvider extends UserProvider<{ id: string }> {
  findById = async (id: string) => ({ id });
  findByIdentifier = async () => null;
  idOf = ({ id }: { id: string }) => id;
  passwordHashOf = async () => null;
  savePasswordHash = async () => undefined;
}

@Controller()
class Reports {
  @Get('private')
  @Authenticated()
  list() {
    return {};
  }
}

/** A service that accepts the tokens of the test host. It uses the same Redis and has no database. */
export class VerifyingService {
  private constructor(
    readonly app: INestApplication,
    private readonly disconnect: () => Promise<unknown>,
  ) {}

  static async start(redisUrl: string, options: Partial<AuthModuleOptions> = {}): Promise<VerifyingService> {
    const { cache, client } = await redisCache(redisUrl);
    return VerifyingService.on(cache, () => client.disconnect(), options);
  }

  /** @param cache the cache to use instead of Redis, and how to close it */
  static async on(
    cache: AuthModuleOptions['cache'],
    disconnect: () => Promise<unknown>,
    options: Partial<AuthModuleOptions> = {},
  ): Promise<VerifyingService> {
    const auth = AuthModule.forRoot({
      verifyOnly: true,
      secret: SECRET,
      cache,
      users: { provider: SubjectProvider },
      ...options,
    });
    @Module({ imports: [auth], controllers: [Reports] })
    class Service {}
    return new VerifyingService(await startHost(Service), disconnect);
  }

  /** The status of a request with this access token. */
  async status(token: string): Promise<number> {
    const { status } = await request(this.app.getHttpServer()).get('/private').set('Authorization', `Bearer ${token}`);
    return status;
  }

  /** Waits until the service accepts a live session, because the denylist is complete. */
  async opened(live: string): Promise<void> {
    await eventually(async () => (await this.status(live)) === 200);
  }

  async stop(): Promise<void> {
    await this.app.close();
    await this.disconnect();
  }
}
