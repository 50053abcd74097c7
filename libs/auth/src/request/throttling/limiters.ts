import { type ExecutionContext, Inject, Injectable, applyDecorators } from '@nestjs/common';
import type { RateLimits } from '../../foundation/config/auth-config';
import type { RateLimit } from '../../foundation/config/auth-options';
import type { LimitRule, Limiter } from '../../foundation/ports/limiter';
import { LONGEST_WINDOW, type WithDefaults } from '../../foundation/config/option-table';
import { sha256 } from '../../foundation/platform/crypto';
import { AuthConfigError, type AuthException } from '../../foundation/platform/errors';
import { type Feature, MANIFESTS, statedBy } from '../../foundation/realm/feature';
import { Realm } from '../../foundation/realm/realm';
import { type Limit, SecurityStore, type Tally } from '../../foundation/security-store/security-store';
import { callerOf } from '../../identity/tokens/caller';
import { Clients, ProxyWarning } from '../http/client-info';
import { HttpAdapterHost } from '@nestjs/core';
import { Clock } from '../../foundation/platform/clock';
import { declarationOf } from '../gates/request-log';
import { requires } from '../gates/route-guard';
import { type Gate, RouteList } from '../gates/route-plan';
import { type LimitState, limitState } from './rate-limit.policy';
import { TooManyRequests } from './throttling.errors';

/** Makes a limiter of the library from the limits of a guard. */
export type LimiterOf = (limits: RateLimits) => Limiter;

/** Chooses the limit of a limiter among those of a guard. */
type RateOf = (limits: RateLimits) => WithDefaults<RateLimit>;

declare module '../../foundation/realm/feature' {
  interface Feature {
    /** Limiters of the feature's routes, by the name that `@Throttled()` gives. */
    readonly limits?: Readonly<Record<string, LimiterOf>>;
  }
}

/** A rule that counts for a user, at all guards of the user's source together. */
interface UserRule extends LimitRule {
  readonly ofUser: true;
}

const isOfUser = (rule: LimitRule | UserRule): rule is UserRule => 'ofUser' in rule;

/** Counts every request by client. */
export const perClient =
  (rateOf: RateOf): LimiterOf =>
  (limits) => {
    const rate = rateOf(limits);
    return (_, { client }) => ({ ...rate, key: `ip|${client}` });
  };

/** Counts every request by account: for routes that only an authenticated user can use, and that cost little. */
export const perUser =
  (rateOf: RateOf): LimiterOf =>
  (limits) => {
    const [rate, byClient] = [rateOf(limits), perClient(rateOf)(limits)];
    return (request, context): LimitRule | UserRule | readonly LimitRule[] => {
      const { guard, userId } = context;
      return userId === null ? byClient(request, context) : { ...rate, key: `user|${guard}|${userId}`, ofUser: true };
    };
  };

/** Counts every request by client and, after authentication, by account, to limit password guesses with a stolen token. */
export const perClientAndUser =
  (rateOf: RateOf): LimiterOf =>
  (limits) => {
    const [byClient, byUser] = [perClient(rateOf)(limits), perUser(rateOf)(limits)];
    return (request, context) =>
      [byClient(request, context), context.userId === null ? [] : byUser(request, context)].flat();
  };

/** For routes that need a confirmation: a client may send each request twice, and learn from the first answer that it does. */
export const twice =
  (rateOf: RateOf): RateOf =>
  (limits) => {
    const { maxAttempts, decaySeconds } = rateOf(limits);
    return { maxAttempts: 2 * maxAttempts, decaySeconds };
  };

/** Provides the realm's limiters by name: those of the library, with the overrides of the host, and the host's own. */
@Injectable()
export class Limiters {
  private readonly builtIn: ReadonlyMap<string, Limiter>;

  constructor(
    private readonly realm: Realm,
    private readonly clients: Clients,
    @Inject(MANIFESTS) manifests: readonly Feature[],
  ) {
    const { rateLimits } = realm.options;
    const stated = statedBy(manifests, ({ limits }) => limits);
    this.builtIn = new Map(
      [...stated].map(([name, limiterOf]) => {
        const limiter = limiterOf(rateLimits);
        return [name, (request, context) => limiter(request, { ...context, guard: realm.source.key })];
      }),
    );
  }

  /** Returns the limits of a request: all rules of the named limiters. */
  of(names: readonly string[], request: object): Limit[] {
    const { guard } = this.realm;
    const context = {
      guard,
      client: this.clients.addressOf(request),
      userId: callerOf(request, guard)?.userId ?? null,
    };
    return names.flatMap((name) => {
      const rules = [this.limiter(name)(request, context)].flat() as LimitRule[];
      // The position is part of the key: two rules with the same key, such as per minute and per hour, need two counters.
      return rules.map((rule, i) =>
        limit(`${isOfUser(rule) ? name : this.nameHere(name)}:${i}`, named(rule, context.client)),
      );
    });
  }

  /** @throws AuthConfigError for an unknown name */
  limiter(name: string): Limiter {
    const [{ rateLimits }, here] = [this.realm.options, this.nameHere(name)];
    if (Object.hasOwn(rateLimits.limiters, here)) return rateLimits.limiters[here]!;
    const builtIn = this.builtIn.get(name);
    if (builtIn) return builtIn;
    throw new AuthConfigError(`There is no rate limiter "${name}". Add it to rateLimits.limiters.`);
  }

  /** Extra guards have their own counters: `svc-login` becomes `svc-{guard}-login`. */
  private nameHere(name: string): string {
    const { guard, options } = this.realm;
    return options.isDefault || !this.builtIn.has(name) ? name : name.replace('svc-', `svc-${guard}-`);
  }
}

/** Replaces an empty or non-text key by the client: otherwise all clients would share one counter. */
const named = (rule: LimitRule, client: string): LimitRule =>
  typeof rule.key === 'string' && rule.key ? rule : { ...rule, key: `ip|${client}` };

/**
 * Converts a rule to a limit for the store. The key is hashed: the store contains no addresses and no identifiers.
 *
 * @param group see {@link Limit.group}
 */
export function limit(name: string, { key, maxAttempts, decaySeconds }: LimitRule, group?: string): Limit {
  if (!(maxAttempts >= 1 && maxAttempts < Infinity && decaySeconds >= 1 && decaySeconds <= LONGEST_WINDOW)) {
    throw new AuthConfigError(
      `The rate limiter "${name}" must return a maxAttempts of at least 1 and a decaySeconds from 1 to ${LONGEST_WINDOW}.`,
    );
  }
  return { key: `svc:rl:${name}:${sha256(key)}`, group, max: maxAttempts, seconds: decaySeconds };
}

/**
 * The state of limits after an attempt was counted.
 *
 * @param seconds the current time in unix seconds
 * @throws TooManyRequests if one of the limits does not admit the attempt
 */
export function requireAdmitted(limits: readonly Limit[], tally: Tally, seconds: number): LimitState {
  const state = limitState(limits, tally);
  if (!tally.admitted) throw new TooManyRequests(state, seconds);
  return state;
}

/** The limiter names that decorators add to routes. */
export const LimiterNames = new RouteList<string>('svc:limiters');

/** How the requests to a route are limited: by named limiters, or why not. Neither for a route that declares nothing. */
export const limitationOf = (controller: object, handler: object): { names: readonly string[]; reason?: string } => ({
  names: LimiterNames.of(controller, handler),
  reason: declarationOf(handler)?.unlimited,
});

/** Counts every request to the route, and refuses requests that exceed a limit. */
@Injectable()
export class ThrottleGate implements Gate {
  static readonly stage = 'throttle';
  static readonly public = true;
  static readonly refusals = (): AuthException[] => [new TooManyRequests({ limit: 1, remaining: 0, retryAfter: 1 }, 0)];

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
    const now = requireAdmitted(limits, await this.store.count(limits), this.clock.seconds());
    if (context.getType() !== 'http') return;
    const [{ httpAdapter }, response] = [this.adapterHost, context.switchToHttp().getResponse()];
    httpAdapter.setHeader(response, 'X-RateLimit-Limit', String(now.limit));
    httpAdapter.setHeader(response, 'X-RateLimit-Remaining', String(now.remaining));
  }
}

/**
 * Limits the requests to a route. The response is 429 with `Retry-After` when a limit is exceeded, and 503 when the
 * store is unavailable. All limiters are checked first; a request is counted only if all of them accept it.
 *
 * @param names limiters of the library (`svc-login`; an extra guard uses its own `svc-{guard}-login`) or of
 * `rateLimits.limiters`. An unknown name is refused at boot
 * @example \@Throttled('orders') // rateLimits: { limiters: { orders: (request, { client }) => … } }
 * @publicApi
 */
export const Throttled = (...names: [string, ...string[]]): ClassDecorator & MethodDecorator => {
  if (!names.length) throw new AuthConfigError('@Throttled() names no limiter.');
  return applyDecorators(LimiterNames.with(...names), requires(ThrottleGate));
};
