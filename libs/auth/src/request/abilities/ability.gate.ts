import { type ExecutionContext, Injectable } from '@nestjs/common';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { AuthException } from '../../foundation/platform/errors';
import { Realm } from '../../foundation/realm/realm';
import { type Caller, callerAt } from '../../identity/tokens/caller';
import type { Gate } from '../gates/route-plan';
import { type Requirement, isMet } from './requirement';

/** The token lacks a required ability: 403 with the required abilities in the challenge (RFC 6750 §3.1). */
export class InsufficientScope extends AuthException {
  /**
   * @param abilities the required abilities
   * @param met whether all of them are required, or one of them
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
 * A request was refused because its token lacks an ability.
 *
 * @publicApi
 */
export class TokenAbilityDenied {
  constructor(
    readonly userId: string,
    readonly guard: string,
    /** The session; null for a co-issuer's token without a session. */
    readonly familyId: string | null,
    readonly required: readonly string[],
    /** Whether all of {@link required} were needed, or one of them. */
    readonly requiresAll: boolean,
  ) {}
}

/** Makes the refusal of a caller that lacks an ability, and emits {@link TokenAbilityDenied}. */
@Injectable()
export class AbilityDenials {
  constructor(private readonly events: AuthEvents) {}

  refusal({ userId, guard, familyId }: Caller, { abilities, met }: Requirement): InsufficientScope {
    this.events.emit(new TokenAbilityDenied(userId, guard, familyId, abilities, met === 'every'));
    return new InsufficientScope(abilities, met);
  }
}

/** Checks the abilities that one decorator or guard class requires. */
@Injectable()
export class AbilityGate implements Gate<Requirement> {
  static readonly stage = 'ability';

  constructor(
    private readonly realm: Realm,
    private readonly abilityDenials: AbilityDenials,
  ) {}

  check(_context: ExecutionContext, request: object, required: Requirement): void {
    const caller = callerAt(request, this.realm.guard);
    if (!isMet(required, caller.grant)) throw this.abilityDenials.refusal(caller, required);
  }
}
