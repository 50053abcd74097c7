import { Injectable } from '@nestjs/common';
import { callHost } from '../../foundation/platform/deadline';
import { Realm } from '../../foundation/realm/realm';
import { scopeOf } from './requirement';

/** The abilities that the access tokens of a session are signed with. */
export interface GrantedScope {
  /** Space-delimited abilities; undefined when abilities are not in use. */
  scope: string | undefined;
  /** Whether the session was started with an explicit list, which never changes. */
  pinned: boolean;
}

/** Decides what a token may do: the pinned list of its session, otherwise the result of `hooks.abilities` at each issue. */
@Injectable()
export class AbilityResolver {
  constructor(private readonly realm: Realm) {}

  /** Returns the stored form of a pinned list; null for a session whose abilities are derived. */
  pin(abilities: Iterable<string> | undefined): string | null {
    return abilities === undefined ? null : scopeOf(abilities);
  }

  /**
   * @param stored the session's `scope` column: null means derived abilities, the empty string grants nothing
   * @throws StoreUnavailable if `hooks.abilities` does not settle in time; every error of the hook. Nothing has been
   * consumed at that point
   */
  async resolve(stored: string | null, userId: string, familyId: string): Promise<GrantedScope> {
    if (stored !== null) return { scope: stored, pinned: true };
    if (!this.realm.abilitiesInUse) return { scope: undefined, pinned: false };
    const { guard, options } = this.realm;
    const { hooks } = options;
    const derived =
      hooks.abilities &&
      (await callHost('hooks.abilities', () => hooks.abilities!(userId, { guard, userId, familyId })));
    return { scope: scopeOf(derived ?? []), pinned: false };
  }
}
