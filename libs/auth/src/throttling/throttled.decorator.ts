import { applyDecorators } from '@nestjs/common';
import { requires } from '../http/requires';
import { AuthConfigError } from '../kernel/auth.exception';
import { LimiterNames, ThrottleGate } from './throttle.gate';

/**
 * Limits how often a route is called: 429 with `Retry-After` beyond it, 503 while nothing can be counted.
 * Every limiter is asked first; only if all have room does the request count towards each.
 *
 * @param names limiters of the library (`svc-login`, at an extra guard its own `svc-{guard}-login`) or of
 * `rateLimits.limiters`; an unknown one is refused at boot
 * @example \@Throttled('orders') // rateLimits: { limiters: { orders: (request, { client }) => … } }
 * @publicApi
 */
export const Throttled = (...names: [string, ...string[]]): ClassDecorator & MethodDecorator => {
  if (!names.length) throw new AuthConfigError('@Throttled() names no limiter.');
  return applyDecorators(LimiterNames.with(...names), requires(ThrottleGate));
};
