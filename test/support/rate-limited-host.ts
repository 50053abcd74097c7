import type { AuthModuleOptions } from '@svc/auth';
import { randomInt, randomUUID } from 'node:crypto';
import { TestApp, type TestAppOptions } from './app';

/** An IPv4 address of its own. */
export const someone = (): string => `198.${randomInt(18, 20)}.${randomInt(256)}.${randomInt(1, 255)}`;

const limited = (options: Partial<AuthModuleOptions>, more: TestAppOptions): TestAppOptions => ({
  options: { keyPrefix: `${randomUUID()}:`, ...options },
  behindProxy: true,
  ...more,
});

/** A host behind a proxy, whose clients say their address in `X-Forwarded-For`, and which shares no counter. */
export const startLimited = (options: Partial<AuthModuleOptions>, more: TestAppOptions = {}): Promise<TestApp> =>
  TestApp.start(limited(options, more));

/** The same host for a whole file, or for a `describe` block: {@link TestApp.forFile}. */
export const limitedForFile = (options: Partial<AuthModuleOptions> = {}, more: TestAppOptions = {}): TestApp =>
  TestApp.forFile(limited(options, more));
