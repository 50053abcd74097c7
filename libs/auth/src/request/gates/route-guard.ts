import {
  type CanActivate,
  type ExecutionContext,
  Inject,
  Injectable,
  UseGuards,
  applyDecorators,
} from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { RequestScope } from '../../foundation/platform/deadline';
import { AuthConfigError } from '../../foundation/platform/errors';
import { Realms } from '../../foundation/realm/realm';
import { callerOf } from '../../identity/tokens/caller';
import { GateRefusalLog } from './refusal-log';
import { requestOfCall } from './request-of';
import { type GateType, Gates, type RoutePlan, routePlan } from './route-plan';
import { TransportErrors } from './transport-errors';

const PASSED = Symbol('svc.passed');

/** Nest makes one context for all guards of a call, and another one for every call. */
interface Call extends ExecutionContext {
  /** The gates that the call has passed. */
  [PASSED]?: Set<GateType>;
}

/** Passes every gate of a route, in one fixed order. What a route requires is read once per route. */
@Injectable()
export class RouteGuard implements CanActivate {
  /** Gates that stand before every route of this guard, declared or not. */
  protected readonly always: readonly GateType[] = [];
  private readonly plans = new WeakMap<object, Map<unknown, RoutePlan>>();

  constructor(
    private readonly realms: Realms,
    private readonly gateRefusalLog: GateRefusalLog,
    private readonly transportErrors: TransportErrors,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  async canActivate(context: Call): Promise<boolean> {
    const plan = this.planOf(context);
    if (!plan.gates.length) return true;
    const passed = (context[PASSED] ??= new Set());
    // A controller and its handler may both bring this guard, or one of more gates; each gate is passed once.
    const due = plan.gates.filter((gate) => !passed.has(gate));
    if (!due.length) return true;
    const passing = (): Promise<void> => this.pass(due, plan.guard, context, passed);
    const scope = plan.isMounted ? RequestScope.of(context.switchToHttp().getRequest()) : undefined;
    await (scope ? scope.run(passing) : passing());
    return true;
  }

  private async pass(
    due: readonly GateType[],
    guard: string | undefined,
    context: ExecutionContext,
    passed: Set<GateType>,
  ): Promise<void> {
    const named = this.realms.named(guard);
    let scope = named ?? this.realms.default;
    let request: object = {};
    try {
      request = requestOfCall(context, this.config.requestOf);
      for (const gate of due) {
        // Who was authenticated, by whichever guard, is whom all further gates are about.
        const active = gate.stage === 'authentication' ? undefined : callerOf(request)?.guard;
        scope = named ?? this.realms.named(active) ?? this.realms.default;
        const checked = scope.get(gate).check(context, request);
        // One that asks no store has passed by now.
        if (checked) await checked;
        passed.add(gate);
      }
    } catch (error) {
      const { realm } = scope;
      this.gateRefusalLog.write(error, realm.guard, context, request);
      throw this.transportErrors.errorFor(context, error, realm.translatorFor(request));
    }
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

/**
 * Puts gates before a route or a controller. Nest runs guards in the order decorators were applied,
 * so every gate decorator brings the one {@link RouteGuard}, which passes all gates in their fixed order.
 */
export const requires = (...gates: GateType[]): ClassDecorator & MethodDecorator =>
  applyDecorators(Gates.with(...gates), UseGuards(RouteGuard));
