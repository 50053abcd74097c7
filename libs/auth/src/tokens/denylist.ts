import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../config/auth-config';
import { StoreUnavailable } from '../kernel/auth.exception';
import { batched } from '../kernel/batched';
import type { Patience } from '../kernel/patience';
import { answered } from '../kernel/unavailable';
import { Realm } from '../realm/realm';
import { denialId, familyKey } from '../revocations/denial-id';
import { DenylistEpochs } from '../revocations/denylist-epochs';
import { RevocationStore } from '../revocations/revocation.store';
import { SecurityStore } from '../security-store/security-store';

/**
 * Seconds that an entry outlives the tokens it denies. The store counts in its own time, while a token
 * lives by the clock of the node that minted it and dies by that of the node that verifies it.
 */
export const CLOCK_MARGIN = 60;

/** Key of one token, by its `jti`. */
export const tokenKey = (id: string): string => `svc:dl:jti:${id}`;

/** Access tokens that are dead before they expire. Shared by all guards, as its ids are UUIDs. */
export abstract class Denylist {
  /** Seconds that a denial lasts; 0 where nothing is denied. */
  abstract readonly lifetime: number;

  /** Denies every token of these sessions, in one round trip. */
  abstract denyFamilies(familyIds: readonly string[]): Promise<void>;

  /**
   * Whether the token or its session is denied, in one round trip. Empty ids are skipped.
   * @throws StoreUnavailable when the store cannot say: never read that as "valid"
   */
  abstract denies(ids: { jti?: unknown; fid?: unknown }): Promise<boolean>;

  /**
   * The same of a session. Those that are asked about in one turn of the event loop share the round trip.
   *
   * @param patience of the request, where the work for it does not run in its scope
   * @throws StoreUnavailable
   */
  abstract deniesFamily(familyId: string, patience?: Patience): Promise<boolean>;
}

@Injectable()
export class StoredDenylist extends Denylist {
  private readonly family = batched((familyIds) => this.deniesFamilies(familyIds));

  constructor(
    private readonly store: SecurityStore,
    private readonly epochs: DenylistEpochs,
    private readonly revocations: RevocationStore,
    private readonly realm: Realm,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {
    super();
  }

  get lifetime(): number {
    const { accessTtl, leeway } = this.realm.options;
    return accessTtl + leeway + CLOCK_MARGIN;
  }

  async denyFamilies(familyIds: readonly string[]): Promise<void> {
    if (!familyIds.length) return;
    const keys = familyIds.map((id) => familyKey(denialId(id)));
    await this.store.setMany(keys, 'true', this.lifetime);
  }

  async denies({ jti, fid }: { jti?: unknown; fid?: unknown }): Promise<boolean> {
    const familyId = isId(fid) ? denialId(fid) : '';
    const keys = [isId(jti) ? tokenKey(jti) : '', familyId && familyKey(familyId)].filter(Boolean);
    if (!keys.length) return false;
    const start = performance.now();
    const { values, epoch } = await this.epochs.read(keys);
    return this.judged(values, epoch, start, { keys, familyId });
  }

  deniesFamily(familyId: string, patience?: Patience): Promise<boolean> {
    return answered('The denylist', this.config.storeTimeoutMs, this.family(denialId(familyId)), patience);
  }

  private async deniesFamilies(familyIds: string[]): Promise<boolean[]> {
    const start = performance.now();
    const keys = familyIds.map(familyKey);
    const { values, epoch } = await this.epochs.read(keys);
    return Promise.all(
      familyIds.map((familyId, i) => this.judged([values[i]!], epoch, start, { keys: [keys[i]!], familyId })),
    );
  }

  /** What the store's answer says, and where it may have lost something what PostgreSQL says. */
  private judged(
    values: readonly (string | null)[],
    epoch: string | null,
    start: number,
    { keys, familyId }: { keys: string[]; familyId: string },
  ): Promise<boolean> | boolean {
    if (values.some((entry) => entry !== null)) return true;
    if (epoch !== null) return false;
    const left = Math.max(1, this.config.storeTimeoutMs - (performance.now() - start));
    return answered('The denylist', left, this.deniesWithout(keys, familyId));
  }

  /** The same while the store has lost something: whether PostgreSQL says so, or the store once it is told again. */
  private async deniesWithout(keys: string[], familyId: string): Promise<boolean> {
    const revoked = await this.revocations.includes(familyId);
    if (revoked !== null) return revoked;
    await this.epochs.recover();
    const { values, epoch } = await this.epochs.read(keys);
    if (values.some((entry) => entry !== null)) return true;
    if (epoch === null) throw new StoreUnavailable('The denylist');
    return false;
  }
}

/** Stands in when `features.denylist` is off: access tokens live until they expire. */
@Injectable()
export class NoDenylist extends Denylist {
  readonly lifetime = 0;

  async denyFamilies(): Promise<void> {}

  async denies(): Promise<boolean> {
    return false;
  }

  async deniesFamily(): Promise<boolean> {
    return false;
  }
}

const isId = (id: unknown): id is string => typeof id === 'string' && id !== '';
