import type { ExecutionContext, Type } from '@nestjs/common';
import { GUARDS_METADATA } from '@nestjs/common/constants';
import { AuthConfigError } from '../../foundation/platform/errors';
import { GuardName, Mounted, PublicRoute } from '../../foundation/realm/feature';

/** Stores a list that decorators add to a route. The list of a handler extends the list of its controller. */
export class RouteList<T> {
  private readonly handlers = new WeakMap<object, Set<PropertyKey>>();

  constructor(private readonly key: string) {}

  /** Adds to a controller class or a handler. Stored as metadata, which decorators that wrap a handler usually copy. */
  add(target: object, items: readonly T[]): void {
    Reflect.defineMetadata(this.key, [...this.on(target), ...items], target);
  }

  /** Returns the list of one controller class, including its base classes, or of one handler. */
  on(target: object): readonly T[] {
    return Reflect.getMetadata(this.key, target) ?? [];
  }

  /** Returns the list of one controller class without its base classes. */
  ownOn(target: object): readonly T[] {
    const own: readonly T[] = Reflect.getOwnMetadata(this.key, target) ?? [];
    return own.slice(this.on(Object.getPrototypeOf(target)).length);
  }

  of(controller: object, handler: object): T[] {
    return [...this.on(controller), ...this.on(handler)];
  }

  /** Whether a decorator added to this method, but its handler has no list: a wrapper has dropped the metadata. */
  isLost(prototype: object, method: PropertyKey, handler: object): boolean {
    return Boolean(this.handlers.get(prototype)?.has(method)) && !this.on(handler).length;
  }

  /** The decorator that adds `items`. */
  with(...items: T[]): ClassDecorator & MethodDecorator {
    return (target: object, method?: string | symbol, descriptor?: PropertyDescriptor) => {
      this.add((descriptor?.value as object | undefined) ?? target, items);
      if (method !== undefined) this.handlers.set(target, (this.handlers.get(target) ?? new Set()).add(method));
    };
  }
}

/** The order in which gates are checked. The order of the decorators does not matter. */
export const STAGES = ['origin', 'authentication', 'ability', 'throttle', 'confirmation', 'verification'] as const;

/** One requirement of a route. Each realm has its own instance; the realm of the request checks it. */
export interface Gate {
  /** Accepts the request, or throws the error of the response. */
  check(context: ExecutionContext, request: object): Promise<void> | void;

  /** Checks a route's requirement at boot. @throws AuthConfigError for a requirement that no request can meet */
  accept?(controller: object, handler: object): void;
}

export interface GateType extends Type<Gate> {
  readonly stage: (typeof STAGES)[number];
  /** Whether the gate also applies to a public route. */
  readonly public?: boolean;
}

/** The gates that decorators add to controllers and handlers. */
export const Gates = new RouteList<GateType>('svc:gates');

/** Returns each gate once, in the order of {@link STAGES}. */
export const inOrder = (gates: readonly GateType[]): GateType[] =>
  [...new Set(gates)].sort((a, b) => STAGES.indexOf(a.stage) - STAGES.indexOf(b.stage));

/** The requirements of a route, read from its decorators. */
export interface RoutePlan {
  readonly gates: readonly GateType[];
  readonly isPublic: boolean;
  /** Whether it is one of the library's own routes: each request to them has a {@link RequestScope}. */
  readonly isMounted: boolean;
  /** Name of the route's guard; undefined means the default guard. */
  readonly guard: string | undefined;
}

/**
 * Reads the plan of a route. `@Public()` or a guard on the handler overrides its controller, and a controller overrides
 * its base classes.
 *
 * @throws AuthConfigError for a handler or a class that is marked both public and guarded
 */
export function routePlan(controller: object, handler: object, always: readonly GateType[] = []): RoutePlan {
  const isPublic = declaredPublic(handler, Gates.on(handler)) ?? inheritedPublic(controller) ?? false;
  const gates = inOrder([...always, ...Gates.of(controller, handler)]);
  return {
    gates: isPublic ? gates.filter((gate) => gate.public) : gates,
    isPublic,
    isMounted: Reflect.getMetadata(Mounted.KEY, controller) === true,
    guard: (Reflect.getMetadata(GuardName.KEY, handler) ?? Reflect.getMetadata(GuardName.KEY, controller)) as
      string | undefined,
  };
}

/** Whether a controller is public: the nearest class of its inheritance chain with a declaration decides. */
function inheritedPublic(controller: object): boolean | undefined {
  for (let level = controller; Object.hasOwn(level, 'prototype'); level = Object.getPrototypeOf(level)) {
    const declared = declaredPublic(level, Gates.ownOn(level));
    if (declared !== undefined) return declared;
  }
  return undefined;
}

/** True for a public class or handler, false for a guarded one, undefined without a declaration. */
function declaredPublic(target: object, gates: readonly GateType[]): boolean | undefined {
  const open = Reflect.getOwnMetadata(PublicRoute.KEY, target) === true;
  const guards: { closes?: boolean }[] = Reflect.getOwnMetadata(GUARDS_METADATA, target) ?? [];
  const closed = gates.some((gate) => !gate.public) || guards.some((guard) => guard?.closes);
  if (open && closed) {
    throw new AuthConfigError('A route is marked both @Public() and guarded. Remove one of the decorators.');
  }
  return open || closed ? open : undefined;
}
