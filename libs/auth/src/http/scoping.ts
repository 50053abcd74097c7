import { Reflector } from '@nestjs/core';
import { Mounted } from '../realm/route-metadata';

/**
 * Marks a handler of the library's own that gives its `RequestScope` to everything that waits for a store, and hashes
 * no password: what every such request asks for need not run *in* the scope, which before Node 24 would cost half as much
 * as the work itself.
 */
export const HandsOnItsScope = Reflector.createDecorator<void, true>({ transform: () => true });

/** What a request's scope is to the work for it: all of it runs inside, or is given it, or there is none. */
export type Scoping = 'inside' | 'given' | 'none';

export function scopingOf(controller: object, handler: object): Scoping {
  if (Reflect.getMetadata(Mounted.KEY, controller) !== true) return 'none';
  return Reflect.getMetadata(HandsOnItsScope.KEY, handler) ? 'given' : 'inside';
}
