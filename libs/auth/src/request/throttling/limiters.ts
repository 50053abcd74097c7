import { Injectable, type ExecutionContext, applyDecorators } from '@nestjs/common';
import type { RateLimits } from '../../foundation/config/auth-config';
import type { LimitRule, Limiter, RateLimit } from '../../foundation/config/auth-options';
import { LONGEST_WINDOW } from '../../foundation/config/resolve-options';
import { sha256 } from '../../foundation/platform/crypto';
import { AuthConfigError } from '../../foundation/platform/errors';
import { Realm } from '../../foundation/realm/realm';
import { type Limit, SecurityStore } from '../../foundation/security-store/security-store';
import { callerOf } from '../../identity/tokens/caller';
import { Clients, ProxyWarning } from './clients';
import { HttpAdapterHost } from '@nestjs/core';
import { Clock } from '../../foundation/platform/clock';
import { requires } from '../gates/route-guard';
import { type Gate, RouteList } from '../gates/route-plan';
import { limitState } from './rate-limit.policy';
import { TooManyRequests } from './throttling.errors';

/** By client, whatever the outcome. */
const perClient = ({ maxAttempts, decaySeconds }: Required<RateLimit>): Limiter => {
  return (_, { client }) => ({ key: `ip|${client}`, maxAttempts, decaySeconds });
};

/** By client and, when someone is signed in, by account: a stolen token must not become a password oracle. */
const perClientAndUser = (rate: Required<RateLimit>): Limiter => {
  const { maxAttempts, decaySeconds } = rate;
  return (request, context) => {
    const client = perClient(rate)(request, context) as LimitRule;
    const { guard, userId } = context;
    return userId === null ? client : [client, { key: `user|${guard}|${userId}`, maxAttempts, decaySeconds }];
  };
};

/** Every limiter of the library by name. */
export const LIMITERS: Readonly<Record<string, (limits: RateLimits) => Limiter>> = {
  'svc-login': ({ login }) => perClient({ ...login, maxAttempts: login.ipMaxAttempts }),
  'svc-refresh': ({ refresh }) => perClient(refresh),
  'svc-2fa': ({ twoFactor }) => perClient(twoFactor),
  'svc-passkeys': ({ passkeys }) => perClient(passkeys),
  'svc-confirm': ({ confirm }) => perClientAndUser(confirm),
  'svc-email-verification': ({ emailVerification }) => perClientAndUser(emailVerification),
  'svc-password-reset': ({ passwordReset }) => perClient(passwordReset),
  // By client only: counted by identifier, strangers could keep an address from registering.
  'svc-register': ({ registration }) => perClient(registration),
};

/** The realm's limiters by name: the library's, as the host overrides them, and the host's own. */
@Injectable()
export class Limiters {
  constructor(
    private readonly realm: Realm,
    private readonly clients: Clients,
  ) {}

  /** What these limiters count for a request, every rule of each. */
  of(names: readonly string[], request: object): Limit[] {
    const { guard } = this.realm;
    const context = {
      guard,
      client: this.clients.addressOf(request),
      userId: callerOf(request, guard)?.userId ?? null,
    };
    return names.flatMap((name) => {
      const rules = [this.limiter(name)(request, context)].flat() as LimitRule[];
      // By position: two rules of one key, such as a minute's and an hour's, are two counters.
      return rules.map((rule, i) => limit(`${this.nameHere(name)}:${i}`, named(rule, context.client)));
    });
  }

  /** @throws AuthConfigError for a name that stands for no limiter */
  limiter(name: string): Limiter {
    const [{ rateLimits }, here] = [this.realm.options, this.nameHere(name)];
    if (Object.hasOwn(rateLimits.limiters, here)) return rateLimits.limiters[here]!;
    if (Object.hasOwn(LIMITERS, name)) return LIMITERS[name]!(rateLimits);
    throw new AuthConfigError(`There is no rate limiter "${name}". Add it to rateLimits.limiters.`);
  }

  /** Extra guards count in buckets of their own: `svc-login` is `svc-{guard}-login` there. */
  private nameHere(name: string): string {
    const { guard, options } = this.realm;
    return options.isDefault || !Object.hasOwn(LIMITERS, name) ? name : name.replace('svc-', `svc-${guard}-`);
  }
}

/** A key that came out empty, or as something else than text, would be everybody's: the client counts instead. */
const named = (rule: LimitRule, client: string): LimitRule =>
  typeof rule.key === 'string' && rule.key ? rule : { ...rule, key: `ip|${client}` };

/** A rule as the store counts it. Its key is hashed: the store holds no addresses and no identifiers. */
export function limit(name: string, { key, maxAttempts, decaySeconds }: LimitRule): Limit {
  if (!(maxAttempts >= 1 && maxAttempts < Infinity && decaySeconds >= 1 && decaySeconds <= LONGEST_WINDOW)) {
    throw new AuthConfigError(
      `The rate limiter "${name}" returned no maxAttempts of at least 1 with decaySeconds of 1 to ${LONGEST_WINDOW}.`,
    );
  }
  return { key: `svc:rl:${name}:${sha256(key)}`, max: maxAttempts, seconds: decaySeconds };
}

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
