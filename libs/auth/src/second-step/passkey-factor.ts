import { Injectable } from '@nestjs/common';
import type { Sql } from '../kernel/database';
import type { FactorMatch } from './factor-match';

/** How many passkeys were removed, and what tells the host of it. */
export interface RemovedPasskeys {
  readonly removed: number;
  readonly tell: () => void;
}

/** A passkey presented after the password. */
export abstract class PasskeyFactor {
  /** Whether this user, having a passkey, must present a second factor: `passkeys.required`. */
  abstract isRequiredOf(user: object): Promise<boolean>;

  /** Whether the user has a passkey. */
  abstract isHeldBy(userId: string): Promise<boolean>;

  /**
   * Judges an answered login ceremony, which is over then. Null where passkeys are switched off.
   *
   * @throws AuthException under `credential` for every other one than a sound answer of a passkey of this user
   */
  abstract match(userId: string, ceremonyId: string, credential: object): Promise<FactorMatch | null>;

  /** Removes all passkeys of the user, in a transaction of the caller's; `tell` is for after its commit. */
  abstract removeAll(sql: Sql, userId: string): Promise<RemovedPasskeys>;
}

/** Stands in when `features.passkeys` is off. */
@Injectable()
export class NoPasskeyFactor extends PasskeyFactor {
  async isRequiredOf(): Promise<boolean> {
    return false;
  }

  async isHeldBy(): Promise<boolean> {
    return false;
  }

  async match(): Promise<null> {
    return null;
  }

  async removeAll(): Promise<RemovedPasskeys> {
    return { removed: 0, tell: () => undefined };
  }
}
