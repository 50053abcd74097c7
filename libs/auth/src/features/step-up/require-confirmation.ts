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

/** Requires a proof that the caller's session earned lately, in the header `confirm.header`. */
@Injectable()
export class ConfirmationGate implements Gate {
  static readonly stage = 'confirmation';

  constructor(
    private readonly confirmations: Confirmations,
    private readonly realm: Realm,
  ) {}

  async check(_context: ExecutionContext, request: ConfirmedRequest): Promise<void> {
    // The guard that authenticated this request judges the proof: ids of different guards collide.
    const caller = callerAt(request, this.realm.guard);
    const { header, ttl } = this.realm.options.confirm;
    const verdict = await this.confirmations.judge(caller, request.headers?.[header.toLowerCase()]);
    if (verdict === 'missing') throw new ConfirmationRequired(ttl);
    if (verdict === 'other_session') throw new ConfirmationOfAnotherSession();
  }
}

/**
 * Step-up: requires, besides a valid token, that the user confirmed the password in this session within
 * `confirm.ttl`. The client gets a confirmation token at `POST /confirm-password` and sends it in the header
 * `X-Svc-Confirmation` (option `confirm.header`), with as many requests as it likes until it expires.
 *
 * Refused with 423: without a proof, or a proof that is no good (`WWW-Authenticate` per RFC 9470); with that
 * of another session (`reason: "confirmation_session_mismatch"`).
 *
 * @publicApi
 */
export const RequireConfirmation = (): ClassDecorator & MethodDecorator =>
  requires(AuthenticationGate, ConfirmationGate);
