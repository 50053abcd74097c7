import { type ExecutionContext, Injectable } from '@nestjs/common';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { AuthException } from '../../foundation/platform/errors';
import { Realm } from '../../foundation/realm/realm';
import { type Caller, callerAt } from '../../identity/tokens/caller';
import { type Gate, RouteList } from '../gates/route-plan';
import { type Requirement, isMet } from './requirement';

/** The token may not do this: 403 with the abilities that would (RFC 6750 §3.1). */
export class InsufficientScope extends AuthException {
  /**
   * @param abilities what is required
   * @param met whether all of them are required, or any
   */
  constructor(abilities: readonly string[], met: 'every' | 'some') {
    const listed = abilities.join(met === 'every' ? ' and ' : ' or ');
    const challenge = `Bearer error="insufficient_scope", error_description="The token lacks a required ability", scope="${abilities.join(' ')}"`;
    super('insufficient_scope', {
      status: 403,
      text: { key: 'auth.insufficient_scope', params: { abilities: listed } },
      headers: { 'WWW-Authenticate': challenge },
    });
  }
}

/**
 * A token was refused for want of an ability.
 *
 * @publicApi
 */
export class TokenAbilityDenied {
  constructor(
    readonly userId: string,
    readonly guard: string,
    /** The session; null for a token of a co-issuer that names none. */
    readonly familyId: string | null,
    readonly required: readonly string[],
    /** Whether all of {@link required} were needed, or any. */
    readonly requiresAll: boolean,
  ) {}
}

/** Refuses callers for want of an ability, and tells the host. */
@Injectable()
export class AbilityDenials {
  constructor(private readonly events: AuthEvents) {}

  refusal({ userId, guard, familyId }: Caller, { abilities, met }: Requirement): InsufficientScope {
    this.events.emit(new TokenAbilityDenied(userId, guard, familyId, abilities, met === 'every'));
    return new InsufficientScope(abilities, met);
  }
}

/** What a route's decorators require of the token. */
export const Requirements = new RouteList<Requirement>('svc:abilities');

/** Requires what a controller and its handler ask of the token, each of it. */
@Injectable()
export class AbilityGate implements Gate {
  static readonly stage = 'ability';

  constructor(
    private readonly realm: Realm,
    private readonly abilityDenials: AbilityDenials,
  ) {}

  check(context: ExecutionContext, request: object): void {
    const caller = callerAt(request, this.realm.guard);
    const required = Requirements.of(context.getClass(), context.getHandler());
    const unmet = required.find((one) => !isMet(one, caller.grant));
    if (unmet) throw this.abilityDenials.refusal(caller, unmet);
  }
}
