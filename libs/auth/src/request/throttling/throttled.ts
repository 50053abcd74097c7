import { type ExecutionContext, Injectable, applyDecorators } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Clock } from '../../foundation/platform/clock';
import { AuthConfigError } from '../../foundation/platform/errors';
import { SecurityStore } from '../../foundation/security-store/security-store';
import { requires } from '../gates/route-guard';
import { type Gate, RouteList } from '../gates/route-plan';
import { Limiters } from './limiters';
import { ProxyWarning } from './proxy-warning';
import { limitState } from './rate-limit.policy';
import { TooManyRequests } from './throttling.errors';

/** The names of a route's limiters. */
export const LimiterNames = new RouteList<string>('svc:limiters');

/** Counts every request to the route, and refuses those beyond a limit. */
@Injectable()
export class ThrottleGate implements Gate {
  static readonly stage = 'throttle';
  static readonly public = true;

  constructor(
    private readonly limiters: Limiters,
    private readonly store: SecurityStore,
    private readonly clock: Clock,
    private readonly proxyWarning: ProxyWarning,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  accept(controller: object, handler: object): void {
    for (const name of LimiterNames.of(controller, handler)) this.limiters.limiter(name);
  }

  async check(context: ExecutionContext, request: object): Promise<void> {
    this.proxyWarning.observe(request);
    const names = new Set(LimiterNames.of(context.getClass(), context.getHandler()));
    const limits = this.limiters.of([...names], request);
    if (!limits.length) return;
    const tally = await this.store.count(limits);
    const now = limitState(limits, tally);
    if (!tally.admitted) throw new TooManyRequests(now, this.clock.seconds());
    if (context.getType() !== 'http') return;
    const [{ httpAdapter }, response] = [this.adapterHost, context.switchToHttp().getResponse()];
    httpAdapter.setHeader(response, 'X-RateLimit-Limit', String(now.limit));
    httpAdapter.setHeader(response, 'X-RateLimit-Remaining', String(now.remaining));
  }
}

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
