import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Realm, defineFeature, errors, http, identity } from '../../kit';
import { emailVerificationText } from './email-verification.texts';

/** The route requires a verified email: 409. */
export class EmailUnverified extends errors.AuthException {
  constructor() {
    super('email_unverified', { status: 409, text: emailVerificationText('auth.email_unverified') });
  }
}

/** Checks the verified email on the user as read for this request, not on a claim. A user of unknown state is refused. */
@Injectable()
export class VerifiedEmailGate implements http.Gate {
  static readonly stage = 'verification';

  constructor(
    private readonly users: identity.UserProvider,
    private readonly realm: Realm,
  ) {}

  accept(): void {
    if (identity.knowsEmailState(this.users)) return;
    throw new errors.AuthConfigError(
      `@RequireVerifiedEmail() and VerifiedEmailGuard need users whose email is known to be verified or not, and the ` +
        `users of the guard "${this.realm.guard}" have no such state. Give the entity a column emailVerifiedAt ` +
        '(timestamptz, nullable), implement isEmailVerified in your UserProvider, or remove the requirement.',
    );
  }

  check(_context: ExecutionContext, request: object): void {
    const caller = identity.callerAt(request, this.realm.guard);
    // Null, an unknown state, is no proof. A service with an access key is no user.
    if (!caller.user || this.users.isEmailVerified(caller.user) !== true) throw new EmailUnverified();
  }
}

/**
 * Requires a valid token and a user with a verified email; the response is 409 otherwise, also for a user for whom
 * `UserProvider.isEmailVerified` returns null. The application does not start if the users of the guard have no such
 * state: neither a column `emailVerifiedAt` nor an implementation of `isEmailVerified`.
 *
 * @publicApi
 */
export const RequireVerifiedEmail = (): ClassDecorator & MethodDecorator =>
  http.requires(http.AuthenticationGate, VerifiedEmailGate);

/**
 * Nest guard for `@UseGuards` with the same rules as {@link RequireVerifiedEmail}: it authenticates the request first.
 *
 * @publicApi
 */
@Injectable()
@http.Gates.with(http.AuthenticationGate, VerifiedEmailGate)
export class VerifiedEmailGuard extends http.RouteGuard {}

/** The gate of routes for users with a verified email. */
export const verifiedEmail = defineFeature('verifiedEmail', {
  providers: [VerifiedEmailGate],
  guards: [VerifiedEmailGuard],
});
