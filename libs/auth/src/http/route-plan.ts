import { GUARDS_METADATA } from '@nestjs/common/constants';
import { AuthConfigError } from '../kernel/auth.exception';
import { GuardName, PublicRoute } from '../realm/route-metadata';
import { type GateType, Gates, inOrder } from './gate';
import { type Scoping, scopingOf } from './scoping';

/** What a route requires, read from its decorators. */
export interface RoutePlan {
  readonly gates: readonly GateType[];
  readonly isPublic: boolean;
  /** How the gates are passed: the library's own routes have a scope for each request. */
  readonly scoping: Scoping;
  /** The guard it names; undefined leaves it to the default one. */
  readonly guard: string | undefined;
}

/**
 * Reads a route's plan. What is said of the handler outweighs what is said of its controller, and that what is
 * said of its base classes, in both directions.
 *
 * @throws AuthConfigError for a handler or a class that is marked both public and guarded
 */
export function routePlan(controller: object, handler: object, always: readonly GateType[] = []): RoutePlan {
  const isPublic = opens(handler, Gates.on(handler)) ?? lineOpens(controller) ?? false;
  const gates = inOrder([...always, ...Gates.of(controller, handler)]);
  return {
    gates: isPublic ? gates.filter((gate) => gate.public) : gates,
    isPublic,
    scoping: scopingOf(controller, handler),
    guard: (Reflect.getMetadata(GuardName.KEY, handler) ?? Reflect.getMetadata(GuardName.KEY, controller)) as
      string | undefined,
  };
}

/** Whether a controller opens its routes: the nearest class of its line that says anything decides. */
function lineOpens(controller: object): boolean | undefined {
  for (let level = controller; Object.hasOwn(level, 'prototype'); level = Object.getPrototypeOf(level)) {
    const said = opens(level, Gates.ownOn(level));
    if (said !== undefined) return said;
  }
  return undefined;
}

/** True for what is marked public, false for what is guarded, undefined for what says neither. */
function opens(target: object, gates: readonly GateType[]): boolean | undefined {
  const open = Reflect.getOwnMetadata(PublicRoute.KEY, target) === true;
  const guards: { closes?: boolean }[] = Reflect.getOwnMetadata(GUARDS_METADATA, target) ?? [];
  const closed = gates.some((gate) => !gate.public) || guards.some((guard) => guard?.closes);
  if (open && closed) {
    throw new AuthConfigError('A route is marked both @Public() and guarded. Remove one of the decorators.');
  }
  return open || closed ? open : undefined;
}
