import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { HttpAdapterHost, Reflector } from '@nestjs/core';
import { AuthConfigError, AuthException } from '../kernel/auth.exception';
import { type RealmScope, Realms } from '../realm/realm';
import { callerOf } from '../tokens/caller';
import { type GateType, declaredGates, inOrder } from './gate';
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
    const named = this.realms.named(guard);
    let scope = named ?? this.realms.default;
    try {
      for (const gate of gates) {
        await scope.get(gate).check(context, request, scope);
        // Who was authenticated, by whichever guard, is whom all further gates are about.
        scope = named ?? this.realms.named(callerOf(request)?.guard) ?? scope;
      }
    } catch (error) {
      throw this.answerable(error, scope, context);
    }
    request[PASSED] = context.getHandler();
    return true;
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
    const plan: Plan = {
      gates: this.gatesOf(controller, handler),
      guard: this.reflector.getAllAndOverride(GuardName, [handler, controller]),
    };
    const ofController = this.plans.get(controller) ?? new Map<unknown, Plan>();
    this.plans.set(controller, ofController.set(handler, plan));
    return plan;
  }

  /** What is said of the handler outweighs what is said of its controller, in both directions. */
  private gatesOf(controller: object, handler: object): GateType[] {
    const [ofClass, ofHandler] = [declaredGates(controller), declaredGates(handler)];
    const closed = ofHandler.some((gate) => !gate.public);
    const isPublic =
      Reflect.getMetadata(PublicRoute.KEY, handler) ?? (!closed && Reflect.getMetadata(PublicRoute.KEY, controller));
    const gates = inOrder([...this.always, ...ofClass, ...ofHandler]);
    if (isPublic && closed)
      throw new AuthConfigError('A route is marked both public and guarded. Remove one of the decorators.');
    if (isPublic) return gates.filter((gate) => gate.public);
    // This guard came with a gate decorator, so losing the gates must not open the route.
    if (!gates.length)
      throw new AuthConfigError('A route lost its gates: put its guard decorators above those that wrap it.');
    return gates;
  }
}
