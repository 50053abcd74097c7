import { Injectable } from '@nestjs/common';
import type { Sql } from '../../foundation/platform/database';
import type { AuthException } from '../../foundation/platform/errors';
import type { GuardServices } from '../../foundation/realm/feature-data';
import { RealmScope } from '../../foundation/realm/realm';
import { Accounts } from '../sessions/accounts';
import { isLastWay } from './last-way.policy';

/** Reads the ways of a user in the transaction of a removal, and locks their rows, if they are rows of the library. */
export type WaysUnderLock = (sql: Sql) => Promise<readonly string[]>;

declare module '../../foundation/realm/feature' {
  interface HookPoints {
    /**
     * The ways in which a user can sign in at the guard, by their kind and id. What code of the host answers is read before the
     * account is locked; the rest by the function that is returned.
     */
    readonly signInWays?: (services: GuardServices, userId: string) => Promise<WaysUnderLock>;
  }
}

/** Removes ways to sign in, so that each user keeps one at the guard. */
@Injectable()
export class SignInWays {
  constructor(
    private readonly accounts: Accounts,
    private readonly scope: RealmScope,
  ) {}

  /**
   * Runs `remove` in a transaction, unless the way is the last one. Removals of one user wait for each other, whichever kinds
   * they remove: of two that would leave none, one is refused.
   *
   * @param way see {@link isLastWay}
   * @throws the error of `refusal` for the last way
   */
  async remove<T>(
    userId: string,
    way: string,
    refusal: () => AuthException,
    remove: (sql: Sql) => Promise<T>,
  ): Promise<T> {
    // A first password that is set from now on does not count: the user repeats the removal.
    const reads = await Promise.all(this.scope.hooks('signInWays').map((hook) => hook(this.scope, userId)));
    return this.accounts.exclusive(userId, async (sql) => {
      const ways: string[] = [];
      // One after the other, always in the order of the features: the rows that they lock exclude other removals as well.
      for (const read of reads) ways.push(...(await read(sql)));
      if (isLastWay(way, ways)) throw refusal();
      return remove(sql);
    });
  }
}
