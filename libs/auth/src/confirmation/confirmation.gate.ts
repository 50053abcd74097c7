import { type ExecutionContext, Injectable } from '@nestjs/common';
import type { Gate } from '../http/gate';
import { Realm } from '../realm/realm';
import { callerAt } from '../tokens/caller';
import { ConfirmationOfAnotherSession, ConfirmationRequired } from './confirmation-required.exception';
import { Confirmations } from './confirmations';

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
