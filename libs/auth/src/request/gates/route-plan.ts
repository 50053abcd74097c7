import type { ExecutionContext, Type } from '@nestjs/common';
import { GUARDS_METADATA } from '@nestjs/common/constants';
import type { GuardConfig } from '../../foundation/config/auth-config';
import { AuthConfigError, type AuthException } from '../../foundation/platform/errors';
import { GuardName, Mounted } from '../../foundation/realm/feature';
import { PublicRoute, type RouteDeclaration } from '../../foundation/realm/route';
import { declarationOf } from './request-log';

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
export const STAGES = [
  'origin',
  'credential',
  'authentication',
  'ability',
  'throttle',
  'sender',
  'factor',
  'recent-login',
  'confirmation',
  'verification',
] as const;

/** One requirement of a route. Each realm has its own instance; the realm of the request checks it. */
export interface Gate<Detail = undefined> {
  /**
   * Accepts the request, or throws the error of the response.
   *
   * @param detail what the decorator or the guard class states, such as abilities; undefined for a gate without details
   */
  check(context: ExecutionContext, request: object, detail: Detail): Promise<void> | void;

  /** Checks a route's requirement at boot. @throws AuthConfigError for a requirement that no request can meet */
  accept?(controller: object, handler: object): void;
}

// The type of the details depends on the gate, and a list has gates of many kinds.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export interface GateType<Detail = any> extends Type<Gate<Detail>> {
  readonly stage: (typeof STAGES)[number];
  /** Whether the gate also applies to a public route. */
  readonly public?: boolean;
  /** Whether it accepts requests without a user. */
  readonly optional?: boolean;
  /** The refusals of the gate at a guard, for the documentation of the library's routes. */
  refusals?(options: GuardConfig, detail: Detail): readonly AuthException[];
}

/** A gate with the details of one decorator or guard class. A route can have several of one type: each is checked. */
export class DetailedGate<Detail = unknown> {
  readonly stage: GateType['stage'];
  readonly public?: boolean;

  constructor(
    readonly type: GateType<Detail>,
    readonly detail: Detail,
  ) {
    this.stage = type.stage;
    this.public = type.public;
  }
}

export type RouteGate = GateType | DetailedGate;

/** The type of a gate; its realm has an instance of this class. */
export const gateTypeOf = (gate: RouteGate): GateType => (gate instanceof DetailedGate ? gate.type : gate);

export const detailOf = (gate: RouteGate): unknown => (gate instanceof DetailedGate ? gate.detail : undefined);

/** The gates that decorators add to controllers and handlers, and the gates of guard classes. */
export const Gates = new RouteList<RouteGate>('svc:gates');

/** A guard of `@UseGuards`: a class or an instance. */
type Guard = Type | InstanceType<Type>;

/** The gates of a guard. A guard that is not of the library has none. */
export const gatesOf = (guard: Guard): readonly RouteGate[] =>
  Gates.on(typeof guard === 'function' ? guard : (guard.constructor ?? guard));

/** The gates of the guards that `@UseGuards` adds to a controller, including its base classes, or to a handler. */
const gatesOfGuards = (target: object): RouteGate[] =>
  ((Reflect.getMetadata(GUARDS_METADATA, target) ?? []) as Guard[]).flatMap(gatesOf);

/** Returns each gate once, in the order of {@link STAGES}. */
export const inOrder = (gates: readonly RouteGate[]): RouteGate[] =>
  [...new Set(gates)].sort((a, b) => STAGES.indexOf(a.stage) - STAGES.indexOf(b.stage));

/** The requirements of a route, read from its decorators. */
export interface RoutePlan {
  readonly gates: readonly RouteGate[];
  readonly isPublic: boolean;
  /** The declaration of a mounted route of the library: each request to it has a {@link RequestScope}. Undefined for every other route. */
  readonly declared: RouteDeclaration | undefined;
  /** Name of the route's guard; undefined means the default guard. */
  readonly guard: string | undefined;
}

/**
 * Reads the plan of a route. `@Public()` or a guard on the handler overrides its controller, and a controller overrides
 * its base classes.
 *
 * @param always gates of a guard that the route does not name, such as a global one
 * @throws AuthConfigError for a handler or a class that is both public and guarded, and for an optional sign-in with a gate that
 * needs a user
 */
export function routePlan(controller: object, handler: object, always: readonly RouteGate[] = []): RoutePlan {
  const isPublic = declaredPublic(handler, Gates.on(handler)) ?? inheritedPublic(controller) ?? false;
  const ofGuards = [controller, handler].flatMap(gatesOfGuards);
  const gates = inOrder([...always, ...Gates.of(controller, handler), ...ofGuards]);
  return {
    gates: isPublic ? publicOf(gates, handler) : gates,
    isPublic,
    declared: Reflect.getMetadata(Mounted.KEY, controller) === true ? declarationOf(handler) : undefined,
    guard: (Reflect.getMetadata(GuardName.KEY, handler) ?? Reflect.getMetadata(GuardName.KEY, controller)) as
      string | undefined,
  };
}

/** The gates that remain on a public route. @throws AuthConfigError for an optional sign-in with a gate that needs a user */
function publicOf(gates: readonly RouteGate[], handler: object): RouteGate[] {
  if (isOpened(handler)) return gates.filter((gate) => gate.public && !gateTypeOf(gate).optional);
  const isOptional = gates.some((gate) => gateTypeOf(gate).optional);
  if (isOptional && gates.some((gate) => !gate.public && gate.stage !== 'authentication'))
    throw new AuthConfigError(
      'A route with @Authenticated({ optional: true }) has a requirement that needs a user. Remove one of them.',
    );
  return gates.filter((gate) => gate.public);
}

/** Whether a handler is `@Public()` itself: then it does not even have the optional sign-in of its class. */
const isOpened = (handler: object): boolean =>
  Reflect.getOwnMetadata(PublicRoute.KEY, handler) === true &&
  !Gates.on(handler).some((gate) => gateTypeOf(gate).stage === 'authentication');

/** Whether a controller is public: the nearest class of its inheritance chain with a declaration decides. */
function inheritedPublic(controller: object): boolean | undefined {
  for (let level = controller; Object.hasOwn(level, 'prototype'); level = Object.getPrototypeOf(level)) {
    const declared = declaredPublic(level, Gates.ownOn(level));
    if (declared !== undefined) return declared;
  }
  return undefined;
}

/** True for a public class or handler, false for a guarded one, undefined without a declaration. */
function declaredPublic(target: object, gates: readonly RouteGate[]): boolean | undefined {
  const open = Reflect.getOwnMetadata(PublicRoute.KEY, target) === true;
  const ofGuards = Reflect.hasOwnMetadata(GUARDS_METADATA, target) ? gatesOfGuards(target) : [];
  const closed = [...gates, ...ofGuards].some((gate) => !gate.public);
  if (open && closed) {
    throw new AuthConfigError(
      'A route is both @Public() and guarded. Remove one of the decorators. @Authenticated({ optional: true }) makes it public, too.',
    );
  }
  return open || closed ? open : undefined;
}
