import {
  type CanActivate,
  type ExecutionContext,
  Inject,
  Injectable,
  UseGuards,
  applyDecorators,
  type ArgumentsHost,
} from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { RequestScope } from '../../foundation/platform/deadline';
import { AuthConfigError } from '../../foundation/platform/errors';
import { Realms } from '../../foundation/realm/realm';
import { callerOf } from '../../identity/tokens/caller';
import { GateRefusalLog } from './request-log';
import { type GateType, Gates, type RoutePlan, routePlan } from './route-plan';
import { TransportErrors } from './transport-errors';
import { CarriedRequest, type Handshake } from '../../foundation/ports/handshake';

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

/**
 * The request that a handler is called for, whatever brought the call. That of HTTP is one object for as long as it
 * lasts; what came over a socket gets one with every call, because a socket outlives the verdicts on its user.
 *
 * @throws AuthConfigError for a context that keeps its request where nobody looks
 */
export function findRequest(context: ExecutionContext, own?: AuthConfig['requestOf']): object {
  const type = context.getType<string>();
  if (type === 'http') return context.switchToHttp().getRequest();
  const named = own?.(context);
  if (named) return new CarriedRequest(named);
  const found = type === 'graphql' ? ofGraphql(context) : type === 'ws' ? ofSocket(context) : undefined;
  if (found) return found;
  throw new AuthConfigError(`A guarded handler was called with no request in its "${type}" context. ${CURE}`);
}

const CURE =
  'A GraphQL context keeps it in "req"; a gateway of @nestjs/platform-ws has to: ' +
  'handleConnection(client, request) { client.request = request }. Elsewhere, set the option requestOf.';

/** Where a GraphQL context keeps what it was made of. */
interface GraphqlContext {
  req?: Kept;
  request?: Kept;
}

/** A request, or graphql-ws's own context, which keeps the upgrade request in `extra`. */
type Kept = Handshake & { extra?: { request?: Handshake } };

function ofGraphql(context: ExecutionContext): object | undefined {
  const { req, request } = graphqlContext(context) ?? {};
  const kept = req ?? request;
  const upgrade = kept?.extra?.request;
  const found = upgrade ?? kept;
  if (!found?.headers) return undefined;
  return upgrade || found.headers.upgrade !== undefined ? new CarriedRequest(found) : found;
}

/** The context value of an operation; resolvers of references are called without arguments of their own. */
export function graphqlContext(context: { getArgs(): unknown[] }): GraphqlContext | undefined {
  const args = context.getArgs();
  const value = args.length === 3 ? args[1] : args[2];
  return typeof value === 'object' && value !== null ? value : undefined;
}

function ofSocket(context: ExecutionContext): object | undefined {
  const { handshake, request } = context.switchToWs().getClient<{ handshake?: Handshake; request?: Handshake }>();
  const found = handshake ?? request;
  return found?.headers && new CarriedRequest(found);
}

/** By what GraphQL makes for one call of a resolver, and by the context of its whole operation. */
const known = new WeakMap<object, object>();

/** Rides along with the arguments of a gateway's handler: a message is nothing that could be told apart otherwise. */
class Rider {
  constructor(readonly request: object) {}
}

/** The request of this very call, found once. @throws AuthConfigError as {@link findRequest} does */
export function requestOfCall(context: ExecutionContext, own?: AuthConfig['requestOf']): object {
  const args: unknown[] = context.getArgs();
  const type = context.getType<string>();
  if (type === 'http') return findRequest(context);
  const found = riding(args) ?? known.get(call(args));
  if (found) return found;
  const request = findRequest(context, own);
  // Before the last argument, which is the pattern.
  if (type === 'ws') args.splice(-1, 0, new Rider(request));
  else known.set(call(args), request);
  const operation = type === 'graphql' && graphqlContext(context);
  if (operation) known.set(operation, request);
  return request;
}

/**
 * The request that a guard found for a handler; that of a nested field is its operation's. Undefined where no guard
 * stood before it.
 */
export function requestOf(context: ArgumentsHost): object | undefined {
  const args: unknown[] = context.getArgs();
  if (context.getType() === 'http') return context.switchToHttp().getRequest();
  return riding(args) ?? known.get(call(args)) ?? known.get(graphqlContext(context) ?? {});
}

const riding = (args: unknown[]): object | undefined => args.find((arg) => arg instanceof Rider)?.request;

/** GraphQL's `info`, or a message's context. What is no object cannot be a key, and is nobody's. */
const call = (args: unknown[]): object => {
  const last = args.at(-1);
  return typeof last === 'object' && last !== null ? last : {};
};
