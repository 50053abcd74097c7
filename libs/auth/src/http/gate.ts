import type { ExecutionContext, Type } from '@nestjs/common';
import type { RealmScope } from '../realm/realm';

/** The order in which gates are passed, wherever a route lists their decorators. */
export const STAGES = ['authentication', 'ability', 'throttle', 'confirmation', 'verification'] as const;

/** One requirement of a route. Realm-scoped: the realm that answers the request checks it. */
export interface Gate {
  /** Lets the request pass, or throws what the caller is told. */
  check(context: ExecutionContext, request: object, scope: RealmScope): Promise<void> | void;
}

export interface GateType extends Type<Gate> {
  readonly stage: (typeof STAGES)[number];
  /** Whether the gate also stands before a public route. */
  readonly public?: boolean;
}

// Metadata and not a property: a decorator that wraps a handler copies metadata along with the guards.
const GATES = 'svc:gates';

/** Adds gates to a controller class or a handler. */
export function addGates(target: object, gates: readonly GateType[]): void {
  Reflect.defineMetadata(GATES, [...declaredGates(target), ...gates], target);
}

/** The gates declared on one controller class, its base classes included, or on one handler. */
export const declaredGates = (target: object): readonly GateType[] => Reflect.getMetadata(GATES, target) ?? [];

/** Each gate once, in the order they are passed. */
export const inOrder = (gates: readonly GateType[]): GateType[] =>
  [...new Set(gates)].sort((a, b) => STAGES.indexOf(a.stage) - STAGES.indexOf(b.stage));
