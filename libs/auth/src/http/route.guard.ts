import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { AuthConfigError, AuthException } from '../kernel/auth.exception';
import { RequestScope } from '../kernel/request-scope';
import { type RealmScope, Realms } from '../realm/realm';
import { Refusals } from './refusals';
import { callerOf } from '../tokens/caller';
import type { GateType } from './gate';
import { type RoutePlan, routePlan } from './route-plan';

const PASSED = Symbol('svc.gates-passed');

/** Passes every gate of a route, in one fixed order. What a route requires is read once per route. */
@Injectable()
export class RouteGuard implements CanActivate {
  /** Gates that stand before every route of this guard, declared or not. */
  protected readonly always: readonly GateType[] = [];
  private readonly plans = new WeakMap<object, Map<unknown, RoutePlan>>();

  constructor(
    private readonly realms: Realms,
    private readonly adapterHost: HttpAdapterHost,
    private readonly refusals: Refusals,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const plan = this.planOf(context);
    const request: { [PASSED]?: unknown } = context.switchToHttp().getRequest();
    // A controller and its handler may both bring this guard; the gates are passed once.
    if (!plan.gates.length || request[PASSED] === context.getHandler()) return true;
    const passing = (): Promise<void> => this.pass(plan, context, request);
    await (plan.isMounted ? RequestScope.of(request).run(passing) : passing());
    request[PASSED] = context.getHandler();
    return true;
  }

  private async pass({ gates, guard }: RoutePlan, context: ExecutionContext, request: object): Promise<void> {
    const named = this.realms.named(guard);
    let scope = named ?? this.realms.default;
    try {
      for (const gate of gates) {
        // Who was authenticated, by whichever guard, is whom all further gates are about.
        const active = gate.stage === 'authentication' ? undefined : callerOf(request)?.guard;
        scope = named ?? this.realms.named(active) ?? this.realms.default;
        await scope.get(gate).check(context, request);
      }
    } catch (error) {
      this.refusals.tell(error, scope.realm.guard, context);
      throw this.answerable(error, scope, context);
    }
  }

  /** The body is the host's to format on its own routes; the challenge headers are ours everywhere. */
  private answerable(error: unknown, { realm }: RealmScope, context: ExecutionContext): unknown {
    if (!(error instanceof AuthException)) return error;
    const response = context.switchToHttp().getResponse();
    for (const [name, value] of Object.entries(error.headers)) {
      this.adapterHost.httpAdapter.setHeader(response, name, value);
    }
    return error.in(realm.speakTo(context.switchToHttp().getRequest()));
  }

  private planOf(context: ExecutionContext): RoutePlan {
    const [controller, handler] = [context.getClass(), context.getHandler()];
    const known = this.plans.get(controller)?.get(handler);
    if (known) return known;
    const plan = routePlan(controller, handler, this.always);
    // This guard came with a gate decorator, so losing the gates must not open the route.
    if (!plan.isPublic && !plan.gates.length) {
      throw new AuthConfigError('A route lost its gates: put its guard decorators above those that wrap it.');
    }
    const ofController = this.plans.get(controller) ?? new Map<unknown, RoutePlan>();
    this.plans.set(controller, ofController.set(handler, plan));
    return plan;
  }
}
