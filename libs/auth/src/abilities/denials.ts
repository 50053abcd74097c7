import { Injectable } from '@nestjs/common';
import { AuthEvents } from '../kernel/auth-events';
import type { Caller } from '../tokens/caller';
import { InsufficientScope } from './insufficient-scope.exception';
import type { Requirement } from './requirement';
import { TokenAbilityDenied } from './token-ability-denied.event';

/** Refuses callers for want of an ability, and tells the host. */
@Injectable()
export class Denials {
  constructor(private readonly events: AuthEvents) {}

  refusal({ userId, guard, familyId }: Caller, { abilities, met }: Requirement): InsufficientScope {
    this.events.emit(new TokenAbilityDenied(userId, guard, familyId, abilities, met === 'every'));
    return new InsufficientScope(abilities, met);
  }
}
