import {
  type CanActivate,
  type ExecutionContext,
  Inject,
  Injectable,
  Optional,
  type Type,
  UseGuards,
  applyDecorators,
  type ArgumentsHost,
} from '@nestjs/common';
import { GUARDS_METADATA } from '@nestjs/common/constants';
import { ModulesContainer } from '@nestjs/core';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { RouteDeclaration } from '../../foundation/realm/route';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { RequestScope } from '../../foundation/platform/deadline';
import { AuthConfigError, UNSUPPORTED, UnreadableRequest, pageUrl } from '../../foundation/platform/errors';
import { Realms } from '../../foundation/realm/realm';
import { callerOf, recordCredentialRoute } from '../../identity/tokens/caller';
import { GateRefusalLog } from './request-log';
import { DetailedGate, Gates, type RouteGate, type RoutePlan, gatesOf, routePlan } from './route-plan';
import { TransportErrors } from './transport-errors';
import { CarriedRequest, type Handshake, connectionOf } from '../../foundation/ports/handshake';

const PASSED = Symbol('svc.passed');

/** Nest makes one context for each call and passes it to all guards of that call. */
interface Call extends ExecutionContext {
  /** The gates that the call has passed. */
  [PASSED]?: Set<RouteGate>;
}

/** Whether a call has passed a gate. */
export const passedBy =
  (call: Call) =>
  (gate: object): boolean =>
    call[PASSED]?.has(gate as RouteGate) ?? false;

declare module '../../foundation/realm/feature' {
  interface Feature {
    /** Guards for `@UseGuards` that code of the host can also inject. */
    readonly guards?: readonly Type<RouteGuard>[];
  }
}

const isOfCredential = ({ stage }: RouteGate): boolean => stage === 'credential';

/**
 * Checks all gates of a route in one fixed order. The plan of a route is read once and kept. A subclass with gates
 * (`@Gates.with(…)`) checks them before every route, in addition to those of the route.
 */
@Injectable()
export class RouteGuard implements CanActivate {
  private readonly plans = new WeakMap<object, Map<unknown, RoutePlan>>();

  constructor(
    @Optional() private readonly realms: Realms,
    @Optional() private readonly gateRefusalLog: GateRefusalLog,
    @Optional() private readonly transportErrors: TransportErrors,
    @Optional() @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
    modules: ModulesContainer,
  ) {
    // Not if the module is there: then its own error says why a provider is missing. A mock is of another class.
    const isComplete = [realms, gateRefusalLog, transportErrors, config].every((provider) => provider !== undefined);
    if (!isComplete && ![...modules.values()].some(({ providers }) => providers.get(Realms)?.metatype === Realms)) {
      throw new AuthConfigError(
        'A route has guards of @svc/auth, but AuthModule is not imported. Import AuthModule.forRoot() in the root module. ' +
          `A test of single controllers imports it, too, or mocks the guards with useMocker(): ${pageUrl('testing.md')}`,
      );
    }
  }

  canActivate(context: Call): Promise<boolean> | boolean {
    const plan = this.planOf(context);
    const { [PASSED]: passed } = context;
    // Nest may run this guard several times for one call: a controller and its handler can both have it. Each gate is
    // checked once.
    const remaining = passed ? plan.gates.filter((gate) => !passed.has(gate)) : plan.gates;
    // A public route without a limit has no gate, but its body is checked.
    if (!remaining.length && (passed || !plan.declared)) return true;
    if (!plan.declared) return this.checkGates(remaining, plan.guard, context);
    return this.checkMounted(remaining, plan.guard, context, plan.declared);
  }

  /** Checks the gates of a route of the library. */
  private async checkMounted(
    gates: readonly RouteGate[],
    guard: string | undefined,
    context: Call,
    route: RouteDeclaration,
  ): Promise<true> {
    const request = context.switchToHttp().getRequest<Received>();
    // Before every gate, like a body that a parser refuses.
    const unparsed = !context[PASSED] && hasUnparsedBody(request);
    if (typeof unparsed === 'boolean' ? unparsed : await unparsed) {
      if (isJson(request.headers)) this.gateRefusalLog.warnOfNoParser();
      throw new UnreadableRequest(UNSUPPORTED);
    }
    const scope = RequestScope.of(request);
    const check = (): Promise<true> => this.checkGates(gates, guard, context);
    return route.besideScope ? scope.beside(check) : scope.run(check);
  }

  private async checkGates(gates: readonly RouteGate[], guard: string | undefined, context: Call): Promise<true> {
    const passed = (context[PASSED] ??= new Set());
    const named = this.realms.named(guard);
    let scope = named ?? this.realms.default;
    let request: object = {};
    try {
      request = requestOfCall(context, this.config.requestOf);
      for (const gate of gates) {
        // After authentication, the guard that authenticated the request checks the other gates.
        const isSignIn = gate.stage === 'credential' || gate.stage === 'authentication';
        const active = isSignIn ? undefined : callerOf(request)?.guard;
        scope = named ?? this.realms.named(active) ?? this.realms.default;
        const { type, detail } = gate instanceof DetailedGate ? gate : { type: gate, detail: undefined };
        const checked = scope.get(type).check(context, request, detail);
        // A gate that does not use a store is synchronous.
        if (checked) await checked;
        passed.add(gate);
      }
      return true;
    } catch (error) {
      const { realm } = scope;
      this.gateRefusalLog.write(error, realm.guard, context, request);
      throw this.transportErrors.errorFor(context, error, scope, request);
    }
  }

  /** Checks the gates of other credentials than access tokens, and records for Passport that their caller counts. */
  protected async checkCredentials(context: Call): Promise<true> {
    const { gates, guard } = this.planOf(context);
    const credentials = gates.filter(isOfCredential);
    // A public route has none.
    if (!credentials.length) return true;
    const { [PASSED]: passed } = context;
    const remaining = credentials.filter((gate) => !passed?.has(gate));
    if (remaining.length) await this.checkGates(remaining, guard, context);
    const { realm } = this.realms.named(guard) ?? this.realms.default;
    recordCredentialRoute(context.switchToHttp().getRequest<object>(), realm.guard);
    return true;
  }

  private planOf(context: ExecutionContext): RoutePlan {
    const [controller, handler] = [context.getClass(), context.getHandler()];
    const known = this.plans.get(controller)?.get(handler);
    if (known) return known;
    const plan = routePlan(controller, handler, gatesOf(this));
    // A gate decorator added this guard. If the gates are lost, the route must not become open.
    if (!plan.isPublic && !plan.gates.length) {
      throw new AuthConfigError('A route lost its gates: put its guard decorators above those that wrap it.');
    }
    const ofController = this.plans.get(controller) ?? new Map<unknown, RoutePlan>();
    this.plans.set(controller, ofController.set(handler, plan));
    return plan;
  }
}

/**
 * Checks the gates of other credentials than access tokens before the guards of a controller and its handlers, so that Nest's
 * `AuthGuard` finds their caller. Only for HTTP: the fields of a GraphQL operation share a request, and are routes of their own.
 */
@Injectable()
class CredentialGuard extends RouteGuard {
  override canActivate(context: Call): Promise<boolean> | boolean {
    const isAsked =
      context.getType() === 'http' && Gates.of(context.getClass(), context.getHandler()).some(isOfCredential);
    return !isAsked || this.checkCredentials(context);
  }
}

/** Puts {@link CredentialGuard} before the guards that a controller has, also of its base classes, and before those that follow. */
function credentialsFirst(target: object): void {
  const controller = typeof target === 'function' ? target : target.constructor;
  const guards = (Reflect.getMetadata(GUARDS_METADATA, controller) ?? []) as object[];
  const others = guards.filter((guard) => guard !== CredentialGuard);
  Reflect.defineMetadata(GUARDS_METADATA, [CredentialGuard, ...others], controller);
}

/** A Nest guard with these gates. */
export function guardWith(gates: readonly RouteGate[]): Type<CanActivate> {
  @Injectable()
  @Gates.with(...gates)
  class RequiredGuard extends RouteGuard {}
  return RequiredGuard;
}

/** What both adapters have of a request. */
interface Received {
  readonly method?: string;
  readonly headers: IncomingHttpHeaders;
  /** As a parser of the application has read it. */
  readonly body?: unknown;
  /** Node's request on Fastify. */
  readonly raw?: IncomingMessage;
}

const isJson = (headers: IncomingHttpHeaders): boolean =>
  /^application\/json[ \t]*(;|$)/i.test(headers['content-type'] ?? '');

/**
 * Whether a request has a body of which no parser of the application has made a value: it would count as one without fields.
 * Parsers of texts and of bytes do not read fields either. A text in JSON is a wrong value, which the validation refuses.
 *
 * A body of unknown length that nothing has read may be empty, so this waits for its first byte.
 */
export function hasUnparsedBody(request: Received): Promise<boolean> | boolean {
  const { method, headers, body } = request;
  // A body has no meaning there (RFC 9110 §9.3.1), and Fastify does not read it.
  if (method === 'GET' || method === 'HEAD') return false;
  if (typeof body === 'string' || body instanceof Uint8Array) return body.length > 0 && !isJson(headers);
  if (body instanceof Readable) return true;
  if (body !== undefined) return false;
  if (headers['transfer-encoding'] === undefined) return Number(headers['content-length'] ?? 0) > 0;
  return hasBytes(request.raw ?? (request as unknown as IncomingMessage));
}

/** Whether a byte arrives of a body that nothing has read. The rest is discarded. */
async function hasBytes(request: IncomingMessage): Promise<boolean> {
  if (request.readableEnded || request.destroyed) return false;
  await new Promise<void>((resolve) => {
    // Also emitted at the end of the stream.
    request.once('readable', resolve);
    request.once('close', resolve);
  });
  const isPresent = request.readableLength > 0;
  request.resume();
  return isPresent;
}

/**
 * Adds gates to a route or a controller. Nest runs guards in the order of their decorators. So every gate decorator
 * adds the same {@link RouteGuard}, which checks all gates in their fixed order.
 */
export const requires = (...gates: RouteGate[]): ClassDecorator & MethodDecorator =>
  applyDecorators(
    Gates.with(...gates),
    UseGuards(RouteGuard),
    ...(gates.some(isOfCredential) ? [credentialsFirst] : []),
  );

/**
 * Finds the request of a call in HTTP, GraphQL or WebSocket contexts. An HTTP request is one object for the whole
 * call. For a socket, each call gets a new object, so that each message is authenticated again.
 *
 * @param own the option `requestOf`
 * @throws AuthConfigError for a context without a request in a known place
 */
export function findRequest(context: ExecutionContext, own?: AuthConfig['requestOf']): object {
  const type = context.getType<string>();
  if (type === 'http') return context.switchToHttp().getRequest();
  const named = own?.(context);
  const handshake = named && type === 'ws' ? handshakeOf(context) : undefined;
  if (named) return new CarriedRequest(named, undefined, undefined, connectionOf(handshake ?? named));
  const found = type === 'graphql' ? graphqlRequest(context) : type === 'ws' ? socketRequest(context) : undefined;
  if (found) return found;
  throw new AuthConfigError(`A guarded handler was called with no request in its "${type}" context. ${CURE}`);
}

const CURE =
  'For GraphQL, put it into the context as "req". For a gateway of @nestjs/platform-ws, add ' +
  'handleConnection(client, request) { client.request = request }. For other contexts, set the option requestOf.';

/** The context value of a GraphQL operation, with the request that it was made from. */
interface GraphqlContext {
  req?: GraphqlRequest;
  request?: GraphqlRequest;
}

/** A request, or the context of graphql-ws, which has the upgrade request in `extra`. */
type GraphqlRequest = Handshake & { extra?: { request?: Handshake } };

function graphqlRequest(context: ExecutionContext): object | undefined {
  const { req, request } = graphqlContext(context) ?? {};
  const direct = req ?? request;
  const upgrade = direct?.extra?.request;
  const found = upgrade ?? direct;
  if (!found?.headers) return undefined;
  return upgrade || found.headers.upgrade !== undefined ? new CarriedRequest(found) : found;
}

/** Returns the context value of an operation. A resolver of references gets three arguments, other resolvers four. */
export function graphqlContext(context: { getArgs(): unknown[] }): GraphqlContext | undefined {
  const args = context.getArgs();
  const value = args.length === 3 ? args[1] : args[2];
  return typeof value === 'object' && value !== null ? value : undefined;
}

/** What @nestjs/websockets gives as the client: a socket of socket.io, or one of ws on which the host has put the request. */
interface SocketClient {
  readonly handshake?: Handshake;
  readonly request?: Handshake;
}

/** The handshake of a socket. The sockets of socket.io for several namespaces of a connection have different ones, with the same headers. */
function handshakeOf(context: ExecutionContext): Handshake | undefined {
  const { handshake, request } = context.switchToWs().getClient<SocketClient>();
  return handshake ?? request;
}

function socketRequest(context: ExecutionContext): object | undefined {
  const found = handshakeOf(context);
  // The handshake of socket.io is an excerpt of Node's request.
  const { request } = context.switchToWs().getClient<SocketClient>();
  return found?.headers && new CarriedRequest(found, found.headers, request?.rawHeaders);
}

/** The request of each GraphQL call, by the `info` of the resolver call and by the context of the operation. */
const requestsByCall = new WeakMap<object, object>();

/** Carries the request among the arguments of a gateway's handler, because a message has no object that identifies it. */
class RequestArgument {
  constructor(readonly request: object) {}
}

/** Returns the request of a call, and finds it only once per call. @throws AuthConfigError as {@link findRequest} does */
export function requestOfCall(context: ExecutionContext, own?: AuthConfig['requestOf']): object {
  const args: unknown[] = context.getArgs();
  const type = context.getType<string>();
  if (type === 'http') return findRequest(context);
  const found = requestIn(args) ?? requestsByCall.get(callKey(args));
  if (found) return found;
  const request = findRequest(context, own);
  // Before the last argument, which is the pattern.
  if (type === 'ws') args.splice(-1, 0, new RequestArgument(request));
  else requestsByCall.set(callKey(args), request);
  const operation = type === 'graphql' && graphqlContext(context);
  if (operation) requestsByCall.set(operation, request);
  return request;
}

/**
 * Returns the request that a guard found for a handler. A nested field has the request of its operation. Undefined when
 * no guard ran before the handler.
 */
export function requestOf(context: ArgumentsHost): object | undefined {
  const args: unknown[] = context.getArgs();
  if (context.getType() === 'http') return context.switchToHttp().getRequest();
  return requestIn(args) ?? requestsByCall.get(callKey(args)) ?? requestsByCall.get(graphqlContext(context) ?? {});
}

const requestIn = (args: unknown[]): object | undefined => args.find((arg) => arg instanceof RequestArgument)?.request;

/** Returns the object that identifies a call: GraphQL's `info`, or the context of a message; a new object without one. */
const callKey = (args: unknown[]): object => {
  const last = args.at(-1);
  return typeof last === 'object' && last !== null ? last : {};
};
