import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Realm } from '../../foundation/realm/realm';
import { callerAt } from '../../identity/tokens/caller';
import { AuthenticationGate } from '../../request/gates/authenticated';
import { requires } from '../../request/gates/route-guard';
import type { Gate } from '../../request/gates/route-plan';
import { Confirmations } from './confirmations';
import { ConfirmationOfAnotherSession, ConfirmationRequired } from './step-up.errors';

interface ConfirmedRequest {
  headers?: Readonly<Record<string, string | string[] | undefined>>;
}

/** Checks the confirmation token of the caller's session in the header `confirm.header`. */
@Injectable()
export class ConfirmationGate implements Gate {
  static readonly stage = 'confirmation';

  constructor(
    private readonly confirmations: Confirmations,
    private readonly realm: Realm,
  ) {}

  async check(_context: ExecutionContext, request: ConfirmedRequest): Promise<void> {
    // The guard that authenticated the request checks the token, because ids of different guards collide.
    const caller = callerAt(request, this.realm.guard);
    const { header, ttl } = this.realm.options.confirm;
    const verdict = await this.confirmations.verify(caller, request.headers?.[header.toLowerCase()]);
    if (verdict === 'missing') throw new ConfirmationRequired(ttl);
    if (verdict === 'other_session') throw new ConfirmationOfAnotherSession();
  }
}

/**
 * Requires step-up authentication: a valid token, and a confirmation of the password or with a passkey in this session
 * within the last `confirm.ttl` seconds. The client gets a confirmation token from `POST /confirm-password` or
 * `POST /confirm-passkey`, and sends it in the header `X-Svc-Confirmation` (option `confirm.header`). It can use the
 * token for several requests until it expires.
 *
 * The response is 423 for a missing or invalid confirmation token (with `WWW-Authenticate` of RFC 9470), and for the
 * confirmation token of another session (with `reason: "confirmation_session_mismatch"`).
 *
 * @publicApi
 */
export const RequireConfirmation = (): ClassDecorator & MethodDecorator =>
  requires(AuthenticationGate, ConfirmationGate);
