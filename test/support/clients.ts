import type { NestExpressApplication } from '@nestjs/platform-express';
import type { AuthModuleOptions } from '@svc/auth';
import { randomInt, randomUUID } from 'node:crypto';
import { TestApp, type TestAppOptions } from './app';

/** An IPv4 address of its own. */
export const someone = (): string => `198.${randomInt(18, 20)}.${randomInt(256)}.${randomInt(1, 255)}`;

const behindProxy = (app: NestExpressApplication): void => void app.set('trust proxy', true);

/** A host behind a proxy, whose clients say their address in `X-Forwarded-For`, and which shares no counter. */
export const startLimited = (options: Partial<AuthModuleOptions>, more: TestAppOptions = {}): Promise<TestApp> =>
  TestApp.start({ options: { keyPrefix: `${randomUUID()}:`, ...options }, prepare: behindProxy, ...more });
