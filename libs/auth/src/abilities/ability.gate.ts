import { type ExecutionContext, Injectable } from '@nestjs/common';
import type { Gate } from '../http/gate';
import { RouteList } from '../http/route-list';
import { Realm } from '../realm/realm';
import { callerAt } from '../tokens/caller';
import { Denials } from './denials';
import { type Requirement, isMet } from './requirement';

/** What a route's decorators require of the token. */
export const Requirements = new RouteList<Requirement>('svc:abilities');

/** Requires what a controller and its handler ask of the token, each of it. */
@Injectable()
export class AbilityGate implements Gate {
  static readonly stage = 'ability';

  constructor(
    private readonly realm: Realm,
    private readonly denials: Denials,
  ) {}

  check(context: ExecutionContext, request: object): void {
    const caller = callerAt(request, this.realm.guard);
    const required = Requirements.of(context.getClass(), context.getHandler());
    const unmet = required.find((one) => !isMet(one, caller.grant));
    if (unmet) throw this.denials.refusal(caller, unmet);
  }
}
