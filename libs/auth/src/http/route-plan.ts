import { AuthConfigError } from '../kernel/auth.exception';
import { GuardName, PublicRoute } from '../realm/route-metadata';
import { type GateType, Gates, inOrder } from './gate';

/** What a route requires, read from its decorators. */
export interface RoutePlan {
  readonly gates: readonly GateType[];
  readonly isPublic: boolean;
  /** The guard it names; undefined leaves it to the default one. */
  readonly guard: string | undefined;
}

/**
 * Reads a route's plan. What is said of the handler outweighs what is said of its controller, in both
 * directions. @throws AuthConfigError for a handler that is marked both public and guarded
 */
export function routePlan(controller: object, handler: object, always: readonly GateType[] = []): RoutePlan {
  const [ofClass, ofHandler] = [Gates.on(controller), Gates.on(handler)];
  const closed = ofHandler.some((gate) => !gate.public);
  const said = (key: string): unknown => Reflect.getMetadata(key, handler);
  if (said(PublicRoute.KEY) && closed) {
    throw new AuthConfigError('A route is marked both @Public() and guarded. Remove one of the decorators.');
  }
  const isPublic = Boolean(said(PublicRoute.KEY) ?? (!closed && Reflect.getMetadata(PublicRoute.KEY, controller)));
  const gates = inOrder([...always, ...ofClass, ...ofHandler]);
  return {
    gates: isPublic ? gates.filter((gate) => gate.public) : gates,
    isPublic,
    guard: (said(GuardName.KEY) ?? Reflect.getMetadata(GuardName.KEY, controller)) as string | undefined,
  };
}
