import { type ExecutionContext, Injectable } from '@nestjs/common';
import { AuthException } from '../../foundation/platform/errors';
import { UserProvider } from '../../foundation/ports/user-provider';
import type { Feature } from '../../foundation/realm/feature';
import { Realm } from '../../foundation/realm/realm';
import { callerAt } from '../../identity/tokens/caller';
import { AuthenticationGate } from '../../request/gates/authenticated';
import { requires } from '../../request/gates/route-guard';
import type { Gate } from '../../request/gates/route-plan';

/** The route is for users with a verified email: 409. */
export class EmailUnverified extends AuthException {
  constructor() {
    super('email_unverified', { status: 409, text: { key: 'auth.email_unverified' } });
  }
}

/** Requires a verified email of the user as just read, never of a claim. Users without such a notion pass. */
@Injectable()
export class VerifiedEmailGate implements Gate {
  static readonly stage = 'verification';

  constructor(
    private readonly users: UserProvider,
    private readonly realm: Realm,
  ) {}

  check(_context: ExecutionContext, request: object): void {
    const caller = callerAt(request, this.realm.guard);
    if (this.users.isEmailVerified(caller.user) === false) throw new EmailUnverified();
  }
}

/**
 * Requires a valid token and a user whose email is verified: 409 otherwise. Users that have no notion of it
 * pass: those of an entity without a column `emailVerifiedAt`, or a `UserProvider` that says null.
 *
 * @publicApi
 */
export const RequireVerifiedEmail = (): ClassDecorator & MethodDecorator =>
  requires(AuthenticationGate, VerifiedEmailGate);

/** Routes for users with a verified email. */
export const verifiedEmail: Feature = {
  providers: [VerifiedEmailGate],
};
