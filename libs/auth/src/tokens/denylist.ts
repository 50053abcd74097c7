import { Injectable } from '@nestjs/common';
import { canonicalId } from '../kernel/uuid';
import { Realm } from '../realm/realm';
import { SecurityStore } from '../security-store/security-store';

/**
 * Seconds that an entry outlives the tokens it denies. The store counts in its own time, while a token
 * lives by the clock of the node that minted it and dies by that of the node that verifies it.
 */
export const CLOCK_MARGIN = 60;

// A co-issuer may print our UUIDs in upper case: the session is the same.
const family = (id: string): string => `svc:dl:fid:${canonicalId(id)}`;

/** Key of one token, by its `jti`. */
export const tokenKey = (id: string): string => `svc:dl:jti:${id}`;

/** Access tokens that are dead before they expire. Shared by all guards, as its ids are UUIDs. */
export abstract class Denylist {
  /** Denies every token of these sessions, in one round trip. */
  abstract denyFamilies(familyIds: readonly string[]): Promise<void>;

  /**
   * Whether the token or its session is denied, in one round trip. Empty ids are skipped.
   * @throws StoreUnavailable when the store cannot say: never read that as "valid"
   */
  abstract denies(ids: { jti?: unknown; fid?: unknown }): Promise<boolean>;
}

@Injectable()
export class StoredDenylist extends Denylist {
  constructor(
    private readonly store: SecurityStore,
    private readonly realm: Realm,
  ) {
    super();
  }

  async denyFamilies(familyIds: readonly string[]): Promise<void> {
    if (!familyIds.length) return;
    const { accessTtl, leeway } = this.realm.options;
    await this.store.setMany(familyIds.map(family), 'true', accessTtl + leeway + CLOCK_MARGIN);
  }

  async denies({ jti, fid }: { jti?: unknown; fid?: unknown }): Promise<boolean> {
    const keys = [isId(jti) ? tokenKey(jti) : '', isId(fid) ? family(fid) : ''].filter(Boolean);
    if (!keys.length) return false;
    return (await this.store.getMany(keys)).some((entry) => entry !== null);
  }
}

/** Stands in when `features.denylist` is off: access tokens live until they expire. */
@Injectable()
export class NoDenylist extends Denylist {
  async denyFamilies(): Promise<void> {}

  async denies(): Promise<boolean> {
    return false;
  }
}

const isId = (id: unknown): id is string => typeof id === 'string' && id !== '';
