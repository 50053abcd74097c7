import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { HttpAdapterHost, Reflector } from '@nestjs/core';
import { AuthException } from '../kernel/auth.exception';
import { type RealmScope, Realms } from '../realm/realm';
import { callerOf } from '../tokens/caller';
import { type GateType, gatesOf } from './gate';
import { GuardName, PublicRoute } from '../realm/route-metadata';

interface Plan {
  readonly gates: readonly GateType[];
  readonly guard: string | undefined;
}

const PASSED = Symbol('svc.gates-passed');

/** Passes every gate of a route, in one fixed order. What a route requires is read once per route. */
@Injectable()
export class RouteGuard implements CanActivate {
  /** Gates that stand before every route of this guard, declared or not. */
  protected readonly always: readonly GateType[] = [];
  private readonly plans = new WeakMap<object, Map<unknown, Plan>>();

  constructor(
    private readonly reflector: Reflector,
    private readonly realms: Realms,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { gates, guard } = this.planOf(context);
    const request: { [PASSED]?: unknown } = context.switchToHttp().getRequest();
    // A controller and its handler may both bring this guard; the gates are passed once.
    if (!gates.length || request[PASSED] === context.getHandler()) return true;
    const scope = this.scopeOf(guard ?? callerOf(request)?.guard);
    try {
      for (const gate of gates) await scope.get(gate).check(context, request, scope);
    } catch (error) {
      throw this.answerable(error, scope, context);
    }
    request[PASSED] = context.getHandler();
    return true;
  }

  private scopeOf(guard: string | undefined): RealmScope {
    return guard === undefined ? this.realms.default : this.realms.get(guard);
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

  private planOf(context: ExecutionContext): Plan {
    const [controller, handler] = [context.getClass(), context.getHandler()];
    const known = this.plans.get(controller)?.get(handler);
    if (known) return known;
    const isPublic = this.reflector.getAllAndOverride(PublicRoute, [handler, controller]) === true;
    const plan: Plan = {
      gates: gatesOf(controller, handler, this.always).filter((gate) => !isPublic || gate.public),
      guard: this.reflector.getAllAndOverride(GuardName, [handler, controller]),
    };
    const ofController = this.plans.get(controller) ?? new Map<unknown, Plan>();
    this.plans.set(controller, ofController.set(handler, plan));
    return plan;
  }
}
