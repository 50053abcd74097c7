import type { ExecutionContext } from '@nestjs/common';
import { AuthConfigError } from '../kernel/auth.exception';
import type { AuthConfig } from '../config/auth-config';
import { CarriedRequest, type Handshake } from './carried-request';

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
