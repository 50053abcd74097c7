import { Injectable } from '@nestjs/common';
import { type Sql, canonicalId } from '../../foundation/platform/database';
import { repeatWhileUnavailable } from '../../foundation/platform/deadline';
import { Denylist } from '../../identity/denylist/denylist';
import type { Caller } from '../../identity/tokens/caller';
import type { EndedRow } from './session.entity';
import { SessionStore } from './session.store';
import { Sessions, rowId } from './sessions';

/** Ends and erases the sessions of a user whose account is deleted. */
@Injectable()
export class SessionErasure {
  constructor(
    private readonly sessions: Sessions,
    private readonly store: SessionStore,
    private readonly denylist: Denylist,
  ) {}

  /**
   * Ends every session of the user on this guard except that of the caller, who deletes the account. Of two sessions that do
   * this at the same time, one ends the other, which then ends none.
   *
   * @throws Unauthenticated when the session of the caller has ended; StoreUnavailable as `Sessions.endAll` does
   */
  async endForDeletion({ userId, familyId }: Pick<Caller, 'userId' | 'familyId'>): Promise<void> {
    const own = rowId(familyId) ?? null;
    await this.sessions.inPages('erased', (start, deny) => this.store.endOthersPage(userId, own, start, deny), 'later');
    await repeatWhileUnavailable(() => this.sessions.requireAlive({ userId, familyId }));
  }

  /** Removes all personal data from the rows of the user's ended sessions on this guard. In pages, which are tried again. */
  async eraseEnded(userId: string): Promise<void> {
    await this.sessions.inPages('erased', (start, deny) => this.store.erasePage(userId, start, deny), 'all');
  }

  /**
   * Ends every session of the user on this guard, and removes all personal data from their rows. In pages, which are tried
   * again: the caller has deleted the account.
   */
  async eraseAll(userId: string): Promise<void> {
    await this.sessions.inPages('erased', (start, deny) => this.store.endPage({ userId }, start, deny), 'all');
    await this.eraseEnded(userId);
  }

  /**
   * Ends and erases all sessions of the user, as part of the transaction that deletes the account, and denies them. That of the
   * caller is not denied: a denial would refuse the repeated request if the commit failed.
   *
   * @returns the sessions that were live: see {@link denyErased}
   */
  async eraseRest({ userId, familyId }: Pick<Caller, 'userId' | 'familyId'>, sql: Sql): Promise<EndedRow[]> {
    const own = familyId && canonicalId(familyId);
    const ended = await this.store.eraseRest(userId, own, sql);
    await this.sessions.noteEnds(sql, ended, 'erased');
    await this.denylist.deny(ended.map(({ id }) => id).filter((id) => id !== own));
    return ended;
  }

  /** Denies sessions, and that of the caller, after the commit of the transaction that has erased them. */
  async denyErased({ familyId }: Pick<Caller, 'familyId'>, erased: readonly EndedRow[]): Promise<void> {
    for (const row of erased) this.sessions.emitEnded(row, 'erased');
    const ids = new Set(erased.map(({ id }) => id));
    if (familyId !== null) ids.add(canonicalId(familyId));
    await repeatWhileUnavailable(() => this.denylist.keep([...ids]));
  }
}
