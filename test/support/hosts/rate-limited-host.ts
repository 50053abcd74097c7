import type { AuthModuleOptions } from '@svc/auth';
import { randomInt, randomUUID } from 'node:crypto';
import { TestApp, type TestAppOptions } from './app';

let last = randomInt(0x2_00_00);

/** An IPv4 address that this file has not used yet (RFC 2544), so that tests do not share counters. */
export function newAddress(): string {
  last = (last + 1) % 0x2_00_00;
  return `198.${18 + (last >> 16)}.${(last >> 8) & 255}.${last & 255}`;
}

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
