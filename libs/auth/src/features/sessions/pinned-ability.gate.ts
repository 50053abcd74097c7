import { type ExecutionContext, Injectable } from '@nestjs/common';
import type { GuardConfig } from '../../foundation/config/auth-config';
import type { AuthException } from '../../foundation/platform/errors';
import { Realm } from '../../foundation/realm/realm';
import { type Caller, callerAt, pinOf } from '../../identity/tokens/caller';
import { AbilityDenials, InsufficientScope } from '../../request/abilities/ability.gate';
import { type Requirement, isMet, requirement } from '../../request/abilities/requirement';
import { AuthenticationGate } from '../../request/gates/authenticated';
import { requires } from '../../request/gates/route-guard';
import { DetailedGate, type Gate } from '../../request/gates/route-plan';
import { SessionStore } from './session.store';

/** The abilities that a route requires of pinned sessions. */
export interface PinnedRequirement extends Requirement {
  /** Whether it also applies when `features.gateAuthRoutes` is off. */
  readonly always: boolean;
}

/** Finds out whether the session of a caller has a pinned list of abilities. */
@Injectable()
export class PinnedSessions {
  constructor(private readonly sessions: SessionStore) {}

  /** A token without the `pin` claim must not unpin a session, so the session row is read in that case. */
  async includes(caller: Caller): Promise<boolean> {
    const { claims, familyId } = caller;
    if (claims.pin === true) return true;
    return pinOf(caller) ?? (familyId !== null && (await this.sessions.isPinned(familyId)));
  }
}

/**
 * Refuses a session with a pinned list of abilities, unless the list covers the required ones. A session with derived
 * abilities has all rights of its user and passes.
 */
@Injectable()
export class PinnedAbilityGate implements Gate<PinnedRequirement> {
  static readonly stage = 'ability';
  static refusals({ features }: GuardConfig, { abilities, met, always }: PinnedRequirement): AuthException[] {
    return always || features.gateAuthRoutes ? [new InsufficientScope(abilities, met)] : [];
  }

  constructor(
    private readonly realm: Realm,
    private readonly pinnedSessions: PinnedSessions,
    private readonly abilityDenials: AbilityDenials,
  ) {}

  check(_context: ExecutionContext, request: object, required: PinnedRequirement): Promise<void> {
    return this.require(callerAt(request, this.realm.guard), required);
  }

  /** Refuses a caller that does not meet a requirement. @throws InsufficientScope */
  async require(caller: Caller, required: PinnedRequirement): Promise<void> {
    // Another party that acts for the user (RFC 8693 §4.1) never has the rights of the user.
    const isActing = caller.claims.act !== undefined;
    const applies = required.always || isActing || this.realm.options.features.gateAuthRoutes;
    if (!applies || isMet(required, caller.grant)) return;
    if (await this.pinnedSessions.includes(caller)) throw this.abilityDenials.refusal(caller, required);
  }
}

const pinnedGate = (required: PinnedRequirement): DetailedGate =>
  new DetailedGate<PinnedRequirement>(PinnedAbilityGate, required);

/** The abilities that pinned sessions need for the library's own routes. */
export type BuiltInAbility = 'svc.sessions' | 'svc.account' | 'svc.account.delete';

/**
 * Requires an ability of pinned sessions. For routes of the library, together with `@Authenticated()`.
 *
 * @param always whether it also applies when `features.gateAuthRoutes` is off
 */
export const RequireIfPinned = (ability: BuiltInAbility, always = false): MethodDecorator =>
  requires(pinnedGate({ abilities: [ability], met: 'some', always }));

/**
 * Requires a valid token. If its session was started with a fixed list of abilities, the list must cover all of `names`;
 * otherwise the response is 403 as for `@Abilities`. A session whose abilities are derived, such as that of a login, has
 * all rights of its user and passes. For routes of the host; `features.gateAuthRoutes` has no effect on it.
 *
 * A token without the claim `pin` whose abilities do not suffice costs a read of its session. A service without the table
 * of sessions goes by the claim.
 *
 * @example \@RequireAbilityIfPinned('orders.write')
 * @throws AuthConfigError when the class is loaded, if there are no names or if a token cannot have a name
 * @publicApi
 */
export const RequireAbilityIfPinned = (...names: [string, ...string[]]): ClassDecorator & MethodDecorator =>
  requires(AuthenticationGate, pinnedGate({ ...requirement(names, 'every'), always: true }));
