import type { ExecutionContext, Type } from '@nestjs/common';
import { GUARDS_METADATA } from '@nestjs/common/constants';
import { AuthConfigError } from '../../foundation/platform/errors';
import { GuardName, Mounted, PublicRoute } from '../../foundation/realm/feature';

/** What decorators say of a route in lists: a handler adds to its controller's, and never replaces it. */
export class RouteList<T> {
  private readonly handlers = new WeakMap<object, Set<PropertyKey>>();

  constructor(private readonly key: string) {}

  /** Adds to a controller class or a handler. Metadata, which a decorator that wraps a handler copies along. */
  add(target: object, items: readonly T[]): void {
    Reflect.defineMetadata(this.key, [...this.on(target), ...items], target);
  }

  /** What is said of one controller class, its base classes included, or of one handler. */
  on(target: object): readonly T[] {
    return Reflect.getMetadata(this.key, target) ?? [];
  }

  /** What is said of one controller class itself, without its base classes. */
  ownOn(target: object): readonly T[] {
    const own: readonly T[] = Reflect.getOwnMetadata(this.key, target) ?? [];
    return own.slice(this.on(Object.getPrototypeOf(target)).length);
  }

  of(controller: object, handler: object): T[] {
    return [...this.on(controller), ...this.on(handler)];
  }

  /** Whether something was said of a method that its handler no longer carries: a wrapper has dropped it. */
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

/** The order in which gates are passed, wherever a route lists their decorators. */
export const STAGES = ['origin', 'authentication', 'ability', 'throttle', 'confirmation', 'verification'] as const;

/** One requirement of a route. Realm-scoped: the realm that answers the request checks it. */
export interface Gate {
  /** Lets the request pass, or throws what the caller is told. */
  check(context: ExecutionContext, request: object): Promise<void> | void;

  /** Judges at boot what a route asks of this gate. @throws AuthConfigError for what no request could meet */
  accept?(controller: object, handler: object): void;
}

export interface GateType extends Type<Gate> {
  readonly stage: (typeof STAGES)[number];
  /** Whether the gate also stands before a public route. */
  readonly public?: boolean;
}

/** The gates of controllers and handlers. */
export const Gates = new RouteList<GateType>('svc:gates');

/** Each gate once, in the order they are passed. */
export const inOrder = (gates: readonly GateType[]): GateType[] =>
  [...new Set(gates)].sort((a, b) => STAGES.indexOf(a.stage) - STAGES.indexOf(b.stage));

/** What a route requires, read from its decorators. */
export interface RoutePlan {
  readonly gates: readonly GateType[];
  readonly isPublic: boolean;
  /** Whether it is one of the library's own routes: each request to them has a {@link RequestScope}. */
  readonly isMounted: boolean;
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
    isMounted: Reflect.getMetadata(Mounted.KEY, controller) === true,
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
