import { Injectable } from '@nestjs/common';
import { Realm } from '../../foundation/realm/realm';
import { scopeOf } from './requirement';

/** What a session's tokens may do, as it is signed. */
export interface GrantedScope {
  /** Space-delimited abilities; undefined where abilities are unused. */
  scope: string | undefined;
  /** Whether the session was started with an explicit list, which then never changes. */
  pinned: boolean;
}

/** Decides what a token may do: a pinned list word for word, else what the host derives at each mint. */
@Injectable()
export class AbilityResolver {
  constructor(private readonly realm: Realm) {}

  /** The stored form of a list to pin; null for a session whose abilities are derived. */
  pin(abilities: Iterable<string> | undefined): string | null {
    return abilities === undefined ? null : scopeOf(abilities);
  }

  /**
   * @param stored the session's `scope` column: null derives, the empty string grants nothing
   * @throws whatever the host's callback throws; nothing has been consumed by then
   */
  async resolve(stored: string | null, userId: string, familyId: string): Promise<GrantedScope> {
    if (stored !== null) return { scope: stored, pinned: true };
    if (!this.realm.abilitiesInUse) return { scope: undefined, pinned: false };
    const { guard, options } = this.realm;
    const derived = (await options.hooks.abilities?.(userId, { guard, userId, familyId })) ?? [];
    return { scope: scopeOf(derived), pinned: false };
  }
}
