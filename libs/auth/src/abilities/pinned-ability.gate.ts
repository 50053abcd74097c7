import { type ExecutionContext, Injectable } from '@nestjs/common';
import type { Gate } from '../http/gate';
import { RouteList } from '../http/route-list';
import { Realm } from '../realm/realm';
import { type Caller, callerAt } from '../tokens/caller';
import { Denials } from './denials';
import { Pins } from './pins';
import { type Requirement, isMet } from './requirement';

/** An ability that a pinned session needs for one of the library's own routes. */
export interface PinnedRequirement extends Requirement {
  /** Holds although `features.gateAuthRoutes` is off. */
  readonly always: boolean;
}

/** What the library's own routes require of pinned sessions. */
export const PinnedRequirements = new RouteList<PinnedRequirement>('svc:pinned-abilities');

/**
 * Keeps a session that was given a list of abilities from managing the account behind it, unless the list
 * says so. Sessions whose abilities are derived are their user, and pass.
 */
@Injectable()
export class PinnedAbilityGate implements Gate {
  static readonly stage = 'ability';

  constructor(
    private readonly realm: Realm,
    private readonly pins: Pins,
    private readonly denials: Denials,
  ) {}

  async check(context: ExecutionContext, request: object): Promise<void> {
    const caller = callerAt(request, this.realm.guard);
    const { gateAuthRoutes } = this.realm.options.features;
    const required = PinnedRequirements.of(context.getClass(), context.getHandler());
    const unmet = required.find((one) => (one.always || gateAuthRoutes) && !isMet(one, caller.grant));
    if (unmet && (await this.isPinned(caller))) throw this.denials.refusal(caller, unmet);
  }

  /** An issuer that forgets the claim must not unpin a session, so without it the session itself is asked. */
  private async isPinned({ claims, familyId }: Caller): Promise<boolean> {
    if (claims.pin === true) return true;
    return familyId !== null && (await this.pins.isPinned(familyId));
  }
}
