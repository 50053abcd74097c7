import { AuthException } from '../../foundation/platform/errors';
import type { LimitState } from './rate-limit.policy';

/** Too many failed attempts: 429 under the field of the endpoint. The headers are those of this limit, and not of the route's. */
export class TooManyFailures extends AuthException {
  constructor(field: string, { limit, retryAfter: seconds }: Pick<LimitState, 'limit' | 'retryAfter'>) {
    super('too_many_failures', {
      status: 429,
      errors: { [field]: [{ key: 'auth.throttled', params: { seconds } }] },
      headers: {
        'Retry-After': String(seconds),
        'X-RateLimit-Limit': String(limit),
        'X-RateLimit-Remaining': '0',
      },
    });
  }
}

/** A rate limit of the route is exhausted: 429 with the wait (RFC 6585 §4). The request had no effect. */
export class TooManyRequests extends AuthException {
  /** @param now unix seconds */
  constructor({ limit, retryAfter }: LimitState, now: number) {
    super('too_many_requests', {
      status: 429,
      text: { key: 'auth.throttled', params: { seconds: retryAfter } },
      headers: {
        'Retry-After': String(retryAfter),
        'X-RateLimit-Limit': String(limit),
        'X-RateLimit-Remaining': '0',
        'X-RateLimit-Reset': String(now + retryAfter),
      },
    });
  }
}
