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

const GATES = Symbol('svc.gates');
type Target = object & { [GATES]?: GateType[] };

/** Adds gates to a controller class or a handler. */
export function addGates(target: Target, gates: readonly GateType[]): void {
  // A mounted controller is a subclass: it must not write into what its base shows.
  const own = Object.hasOwn(target, GATES) ? target[GATES]! : [];
  target[GATES] = [...own, ...gates];
}

/** The gates of a handler and its controller, each once, in the order they are passed. */
export function gatesOf(controller: Target, handler: Target, always: readonly GateType[] = []): GateType[] {
  const gates = new Set([...always, ...(controller[GATES] ?? []), ...(handler[GATES] ?? [])]);
  return [...gates].sort((a, b) => STAGES.indexOf(a.stage) - STAGES.indexOf(b.stage));
}
