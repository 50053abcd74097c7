import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { RequestScope } from '../kernel/request-scope';
import { Mounted } from '../realm/route-metadata';

/**
 * Marks a handler of the library's own that gives its {@link Scope} to everything that waits for a store, and hashes
 * no password: nothing runs *in* the scope, which before Node 24 would cost more than the work itself.
 */
export const HandsOnItsScope = Reflector.createDecorator<void, true>({ transform: () => true });

/** The scope of a request to the library's routes. */
export const Scope = createParamDecorator((_: unknown, context: ExecutionContext) =>
  RequestScope.of(context.switchToHttp().getRequest()),
);

/** What a request's scope is to the work for it: all of it runs inside, or is given it, or there is none. */
export type Scoping = 'inside' | 'given' | 'none';

export function scopingOf(controller: object, handler: object): Scoping {
  if (Reflect.getMetadata(Mounted.KEY, controller) !== true) return 'none';
  return Reflect.getMetadata(HandsOnItsScope.KEY, handler) ? 'given' : 'inside';
}
