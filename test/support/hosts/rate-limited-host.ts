import type { AuthModuleOptions } from '@svc/auth';
import { randomInt, randomUUID } from 'node:crypto';
import { TestApp, type TestAppOptions } from './app';

/** A random IPv4 address, so that tests do not share counters. */
export const randomAddress = (): string => `198.${randomInt(18, 20)}.${randomInt(256)}.${randomInt(1, 255)}`;

const limited = (options: Partial<AuthModuleOptions>, more: TestAppOptions): TestAppOptions => ({
  options: { keyPrefix: `${randomUUID()}:`, ...options },
  behindProxy: true,
  ...more,
});

/** A host with its own rate limits and counters, behind a proxy: `X-Forwarded-For` is the client's address. */
export const startRateLimited = (options: Partial<AuthModuleOptions>, more: TestAppOptions = {}): Promise<TestApp> =>
  TestApp.start(limited(options, more));

/** The same host for a whole file, or for a `describe` block: see {@link TestApp.forFile}. */
export const rateLimitedForFile = (options: Partial<AuthModuleOptions> = {}, more: TestAppOptions = {}): TestApp =>
  TestApp.forFile(limited(options, more));
