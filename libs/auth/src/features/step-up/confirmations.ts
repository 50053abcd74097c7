import { Injectable } from '@nestjs/common';
import type { Caller } from '../../identity/tokens/caller';
import { CONFIRMATION, PurposeTokens } from '../../identity/tokens/purpose-tokens';
import { type ConfirmationVerdict, confirmationVerdict } from './step-up.policy';

/** Issues and checks the confirmation tokens of step-up. A token is valid only for the session that it was issued to. */
@Injectable()
export class Confirmations {
  constructor(private readonly tokens: PurposeTokens) {}

  /** Issues a confirmation token for the caller's session. It can be used several times until `confirm.ttl` has passed. */
  mint({ userId, familyId }: Pick<Caller, 'userId' | 'familyId'>): string {
    return this.tokens.mint(CONFIRMATION, userId, familyId === null ? {} : { fid: familyId });
  }

  /** @throws StoreUnavailable */
  async verify(caller: Caller, token: unknown): Promise<ConfirmationVerdict> {
    const proof = typeof token === 'string' && token ? await this.tokens.verify(CONFIRMATION, token) : null;
    return confirmationVerdict(proof, caller);
  }
}
