import { type ExecutionContext, Injectable } from '@nestjs/common';
import { AuthException } from '../../foundation/platform/errors';
import { UserProvider } from '../../foundation/ports/user-provider';
import type { Feature } from '../../foundation/realm/feature';
import { Realm } from '../../foundation/realm/realm';
import { callerAt } from '../../identity/tokens/caller';
import { AuthenticationGate } from '../../request/gates/authenticated';
import { RouteGuard, requires } from '../../request/gates/route-guard';
import { type Gate, Gates } from '../../request/gates/route-plan';

/** The route requires a verified email: 409. */
export class EmailUnverified extends AuthException {
  constructor() {
    super('email_unverified', { status: 409, text: { key: 'auth.email_unverified' } });
  }
}

/** Checks the verified email on the user as read for this request, not on a claim. Users without email verification pass. */
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
 * Requires a valid token and a user with a verified email; the response is 409 otherwise. Users without email
 * verification pass: their entity has no column `emailVerifiedAt`, or `UserProvider.isEmailVerified` returns null.
 *
 * @publicApi
 */
export const RequireVerifiedEmail = (): ClassDecorator & MethodDecorator =>
  requires(AuthenticationGate, VerifiedEmailGate);

/**
 * Nest guard for `@UseGuards` with the same rules as {@link RequireVerifiedEmail}: it authenticates the request first.
 *
 * @publicApi
 */
@Injectable()
@Gates.with(AuthenticationGate, VerifiedEmailGate)
export class VerifiedEmailGuard extends RouteGuard {}

/** The gate of routes for users with a verified email. */
export const verifiedEmail: Feature = {
  providers: [VerifiedEmailGate],
};
