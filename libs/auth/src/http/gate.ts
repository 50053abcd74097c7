import type { ExecutionContext, Type } from '@nestjs/common';
import { RouteList } from './route-list';

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
