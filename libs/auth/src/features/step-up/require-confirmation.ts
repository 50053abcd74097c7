import { type ExecutionContext, Injectable } from '@nestjs/common';
import type { GuardConfig } from '../../foundation/config/auth-config';
import type { AuthException } from '../../foundation/platform/errors';
import { Realm } from '../../foundation/realm/realm';
import { callerAt } from '../../identity/tokens/caller';
import { AuthenticationGate } from '../../request/gates/authenticated';
import { RouteGuard, requires } from '../../request/gates/route-guard';
import { type Gate, Gates } from '../../request/gates/route-plan';
import { Confirmations, type ConfirmedRequest } from './confirmations';
import { ConfirmationOfAnotherSession, ConfirmationRequired } from './step-up.errors';

/** Requires a confirmation of the caller's session: see {@link Confirmations.require}. */
@Injectable()
export class ConfirmationGate implements Gate {
  static readonly stage = 'confirmation';
  static refusals({ confirm }: GuardConfig): AuthException[] {
    return [new ConfirmationRequired(confirm, []), new ConfirmationOfAnotherSession(confirm, [])];
  }

  constructor(
    private readonly confirmations: Confirmations,
    private readonly realm: Realm,
  ) {}

  check(_context: ExecutionContext, request: ConfirmedRequest): Promise<void> {
    // The guard that authenticated the request checks the token, because ids of different guards collide.
    return this.confirmations.require(callerAt(request, this.realm.guard), request);
  }
}

/**
 * Requires step-up authentication: a valid token, and a confirmation of the password or with a passkey in this session
 * within the last `confirm.ttl` seconds. The client gets a confirmation token from `POST /confirm-password` or
 * `POST /confirm-passkey`, and sends it in the header `X-Svc-Confirmation` (option `confirm.header`). It can use the
 * token for several requests until it expires.
 *
 * A user without a password and without a passkey confirms in a way of the host (`auth.confirm`), or by signing in again
 * if `confirm.afterLogin` is on.
 *
 * The response is 423 for a missing or invalid confirmation token (with `WWW-Authenticate` of RFC 9470), and for the
 * confirmation token of another session (with `reason: "confirmation_session_mismatch"`). Its header
 * `X-Svc-Confirmation-Methods` lists the ways that this user has: `password`, `passkey`, `login`.
 *
 * @publicApi
 */
export const RequireConfirmation = (): ClassDecorator & MethodDecorator =>
  requires(AuthenticationGate, ConfirmationGate);

/**
 * Nest guard for `@UseGuards` with the same rules as {@link RequireConfirmation}: it authenticates the request first.
 *
 * @publicApi
 */
@Injectable()
@Gates.with(AuthenticationGate, ConfirmationGate)
export class ConfirmationGuard extends RouteGuard {}
