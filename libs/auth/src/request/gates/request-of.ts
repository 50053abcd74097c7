import type { ArgumentsHost, ExecutionContext } from '@nestjs/common';
import type { AuthConfig } from '../../foundation/config/auth-config';
import { AuthConfigError } from '../../foundation/platform/errors';
import { CarriedRequest, type Handshake } from '../../foundation/ports/handshake';

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
