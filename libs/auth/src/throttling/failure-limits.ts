import { Injectable } from '@nestjs/common';
import { Realm } from '../realm/realm';
import type { Limit } from '../security-store/security-store';
import { foldedIdentifier, normalizedIdentifier } from '../users/normalized-identifier';
import { Clients } from './clients';
import { limit } from './limiters';

/** What failed attempts of this realm are counted under. */
@Injectable()
export class FailureLimits {
  constructor(
    private readonly realm: Realm,
    private readonly clients: Clients,
  ) {}

  /**
   * Failed logins: by account and client, and by account alone, or every machine of a botnet had an
   * allowance of its own. Without an identifier there is no account: all such callers would share one counter.
   */
  ofLogin(identifier: string, request: object): Limit[] {
    const { guard, options } = this.realm;
    const { maxAttempts, accountMaxAttempts, decaySeconds } = options.rateLimits.login;
    const account = normalizedIdentifier(identifier);
    const byClient = { key: `${guard}|${account}|${this.clients.of(request)}`, maxAttempts, decaySeconds };
    const byAccount = { key: `acct|${guard}|${account}`, maxAttempts: accountMaxAttempts, decaySeconds };
    return [limit('login-failures', byClient), ...(account ? [limit('account-failures', byAccount)] : [])];
  }

  /**
   * Whether a success with this identifier empties the counters. Look-alikes share them, so one that is not
   * in the form they are kept under clears nobody's: its owner could be guessing at another one's account.
   */
  clearedBy(identifier: string): boolean {
    return foldedIdentifier(identifier) === normalizedIdentifier(identifier);
  }

  /** Failed second factors of one account. */
  ofTwoFactor(userId: string): Limit[] {
    const { guard, options } = this.realm;
    return [limit('2fa-challenge', { key: `${guard}:${userId}`, ...options.rateLimits.twoFactor })];
  }
}
