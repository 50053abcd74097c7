import { Injectable } from '@nestjs/common';
import type { PurposeClaims } from '../tokens/purpose-token.policy';
import { LOGIN_CHALLENGE, PurposeTokens } from '../tokens/purpose-tokens';

/** Tokens that say "the password was right", and nothing more: single use, of one guard. */
@Injectable()
export class LoginChallenges {
  constructor(private readonly tokens: PurposeTokens) {}

  mint(userId: string): string {
    return this.tokens.mint(LOGIN_CHALLENGE, userId);
  }

  /** Null for what is no challenge of this guard, too old or used up. */
  verify(token: string): Promise<PurposeClaims | null> {
    return this.tokens.verify(LOGIN_CHALLENGE, token);
  }

  /** Uses a challenge up; false where it is already. Of many at once, one. */
  burn(challenge: PurposeClaims): Promise<boolean> {
    return this.tokens.spend(challenge);
  }

  /** Gives back a challenge that was burned for nothing. */
  restore(challenge: PurposeClaims): Promise<void> {
    return this.tokens.restore(challenge);
  }
}
