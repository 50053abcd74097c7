import { type ExecutionContext, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Gate } from '../http/gate';
import { RouteList } from '../http/route-list';
import { Clock } from '../kernel/clock';
import { SecurityStore } from '../security-store/security-store';
import { ProxyWatch } from './proxy-watch';
import { standing } from './rate-limit.policy';
import { Limiters } from './limiters';
import { TooManyRequests } from './too-many-requests.exception';

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
    private readonly proxies: ProxyWatch,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  accept(controller: object, handler: object): void {
    for (const name of LimiterNames.of(controller, handler)) this.limiters.limiter(name);
  }

  async check(context: ExecutionContext, request: object): Promise<void> {
    this.proxies.observe(request);
    const names = new Set(LimiterNames.of(context.getClass(), context.getHandler()));
    const limits = this.limiters.of([...names], request);
    if (!limits.length) return;
    const tally = await this.store.count(limits);
    const now = standing(limits, tally);
    if (!tally.admitted) throw new TooManyRequests(now, this.clock.seconds());
    if (context.getType() !== 'http') return;
    const [{ httpAdapter }, response] = [this.adapterHost, context.switchToHttp().getResponse()];
    httpAdapter.setHeader(response, 'X-RateLimit-Limit', String(now.limit));
    httpAdapter.setHeader(response, 'X-RateLimit-Remaining', String(now.remaining));
  }
}
