import type { ArgumentsHost, ExecutionContext } from '@nestjs/common';
import type { AuthConfig } from '../config/auth-config';
import { findRequest, graphqlContext } from './find-request';

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
