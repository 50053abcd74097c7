import { type ExecutionContext, Injectable, applyDecorators } from '@nestjs/common';
import { Realm } from '../../foundation/realm/realm';
import { type Caller, callerAt } from '../../identity/tokens/caller';
import { requires } from '../gates/route-guard';
import { type Gate, RouteList } from '../gates/route-plan';
import { AbilityDenials } from './ability.gate';
import { type Requirement, isMet } from './requirement';

/** Which sessions were started with an explicit list of abilities. The sessions know. */
export abstract class PinnedSessions {
  /** Asks the primary. @throws StoreUnavailable */
  abstract isPinned(familyId: string): Promise<boolean>;
}

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
    private readonly pinnedSessions: PinnedSessions,
    private readonly abilityDenials: AbilityDenials,
  ) {}

  async check(context: ExecutionContext, request: object): Promise<void> {
    const caller = callerAt(request, this.realm.guard);
    const { gateAuthRoutes } = this.realm.options.features;
    const required = PinnedRequirements.of(context.getClass(), context.getHandler());
    const unmet = required.find((one) => (one.always || gateAuthRoutes) && !isMet(one, caller.grant));
    if (unmet && (await this.isPinned(caller))) throw this.abilityDenials.refusal(caller, unmet);
  }

  /** An issuer that forgets the claim must not unpin a session, so without it the session itself is asked. */
  private async isPinned({ claims, familyId }: Caller): Promise<boolean> {
    if (claims.pin === true) return true;
    return familyId !== null && (await this.pinnedSessions.isPinned(familyId));
  }
}

/** The abilities that pinned sessions need for the library's own routes. */
export type BuiltInAbility = 'svc.sessions' | 'svc.account' | 'svc.account.delete';

/**
 * Requires an ability of pinned sessions; for routes of the library, beside `@Authenticated()`.
 *
 * @param always whether it holds although `features.gateAuthRoutes` is off
 */
export const RequireIfPinned = (ability: BuiltInAbility, always = false): MethodDecorator =>
  applyDecorators(PinnedRequirements.with({ abilities: [ability], met: 'some', always }), requires(PinnedAbilityGate));
