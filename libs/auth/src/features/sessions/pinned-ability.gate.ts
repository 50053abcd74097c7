import { type ExecutionContext, Injectable, applyDecorators } from '@nestjs/common';
import { Realm } from '../../foundation/realm/realm';
import { type Caller, callerAt } from '../../identity/tokens/caller';
import { AbilityDenials } from '../../request/abilities/ability.gate';
import { type Requirement, isMet } from '../../request/abilities/requirement';
import { requires } from '../../request/gates/route-guard';
import { type Gate, RouteList } from '../../request/gates/route-plan';
import { SessionStore } from './session.store';

/** An ability that a pinned session needs for one of the library's own routes. */
export interface PinnedRequirement extends Requirement {
  /** Whether it also applies when `features.gateAuthRoutes` is off. */
  readonly always: boolean;
}

/** The abilities that the library's own routes require of pinned sessions. */
export const PinnedRequirements = new RouteList<PinnedRequirement>('svc:pinned-abilities');

/** Finds out whether the session of a caller has a pinned list of abilities. */
@Injectable()
export class PinnedSessions {
  constructor(private readonly sessions: SessionStore) {}

  /** A token without the `pin` claim must not unpin a session, so the session row is read in that case. */
  async includes({ claims, familyId }: Caller): Promise<boolean> {
    if (claims.pin === true) return true;
    return familyId !== null && (await this.sessions.isPinned(familyId));
  }
}

/**
 * Refuses account management to a session with a pinned list of abilities, unless the list contains the required
 * ability. A session with derived abilities has all rights of its user and passes.
 */
@Injectable()
export class PinnedAbilityGate implements Gate {
  static readonly stage = 'ability';

  constructor(
    private readonly realm: Realm,
    private readonly pinnedSessions: PinnedSessions,
    private readonly abilityDenials: AbilityDenials,
  ) {}

  async check(context: ExecutionContext, request: object): Promise<void> {
    const caller = callerAt(request, this.realm.guard);
    const { gateAuthRoutes } = this.realm.options.features;
    const required = PinnedRequirements.of(context.getClass(), context.getHandler());
    const unmet = required.find(
      (requirement) => (requirement.always || gateAuthRoutes) && !isMet(requirement, caller.grant),
    );
    if (unmet && (await this.pinnedSessions.includes(caller))) throw this.abilityDenials.refusal(caller, unmet);
  }
}

/** The abilities that pinned sessions need for the library's own routes. */
export type BuiltInAbility = 'svc.sessions' | 'svc.account' | 'svc.account.delete';

/**
 * Requires an ability of pinned sessions. For routes of the library, together with `@Authenticated()`.
 *
 * @param always whether it also applies when `features.gateAuthRoutes` is off
 */
export const RequireIfPinned = (ability: BuiltInAbility, always = false): MethodDecorator =>
  applyDecorators(PinnedRequirements.with({ abilities: [ability], met: 'some', always }), requires(PinnedAbilityGate));
