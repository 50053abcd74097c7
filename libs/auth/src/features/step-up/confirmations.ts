import { Injectable } from '@nestjs/common';
import type { Caller } from '../../identity/tokens/caller';
import { CONFIRMATION, PurposeTokens } from '../../identity/tokens/purpose-tokens';
import { type ConfirmationVerdict, judgeConfirmation } from './step-up.policy';

/** Proofs that the user was just there: earned by one session, and good for it alone. */
@Injectable()
export class Confirmations {
  constructor(private readonly tokens: PurposeTokens) {}

  /** A proof for the caller's session, reusable until `confirm.ttl` is over. */
  mint({ userId, familyId }: Pick<Caller, 'userId' | 'familyId'>): string {
    return this.tokens.mint(CONFIRMATION, userId, familyId === null ? {} : { fid: familyId });
  }

  /** @throws StoreUnavailable */
  async judge(caller: Caller, token: unknown): Promise<ConfirmationVerdict> {
    const proof = typeof token === 'string' && token ? await this.tokens.verify(CONFIRMATION, token) : null;
    return judgeConfirmation(proof, caller);
  }
}
