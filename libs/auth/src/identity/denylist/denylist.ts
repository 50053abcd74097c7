import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { batchPerTick } from '../../foundation/platform/batching';
import { withTimeout, withinDeadline } from '../../foundation/platform/deadline';
import { Realm } from '../../foundation/realm/realm';
import { SecurityStore } from '../../foundation/security-store/security-store';
import { StoreContinuity } from './store-continuity';
import { sha256 } from '../../foundation/platform/crypto';
import { canonicalId } from '../../foundation/platform/database';

/** What the store holds about one access token. */
export interface StoredDenial {
  /** Whether the token or its session is denied. */
  readonly denied: boolean;
  /** Whether the store certainly holds every denial. */
  readonly complete: boolean;
}

/** Sessions whose denials the store certainly holds. A sharded store can hold those of some sessions only. */
export type Completeness = 'all' | 'some' | 'none';

/**
 * Stores in the security store the access tokens that are revoked before they expire. All guards share it: session and token
 * ids are UUIDs. While `features.denylist` is off it denies nothing: access tokens are valid until they expire.
 */
@Injectable()
export class Denylist {
  private readonly family = batchPerTick((ids) => this.store.getMany(ids.map((id) => familyKey(id, this.store))));
  private readonly joined = batchPerTick<StoredDenial, readonly string[]>((lists) => this.denials(lists, ''));

  constructor(
    private readonly store: SecurityStore,
    private readonly continuity: StoreContinuity,
    private readonly realm: Realm,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  /** Lifetime of a denial in seconds; 0 if nothing is denied. PostgreSQL is not read for ended sessions then. */
  get lifetime(): number {
    return this.isOn ? longestLife(this.realm.options) : 0;
  }

  /**
   * Denies every token of these sessions before their end commits, in one round trip for each {@link AT_ONCE} of them. Such a denial lasts as long as a
   * session can be refreshed, in case that the commit does not happen: see `UnfinishedEnds`.
   *
   * @throws StoreUnavailable
   */
  deny(familyIds: readonly string[]): Promise<void> {
    return this.write(familyIds, Math.max(this.realm.options.refreshTtl, this.lifetime) + CLOCK_MARGIN);
  }

  /**
   * Called after the commit: the denials of these sessions last as long as their access tokens can be presented. They are
   * written, not only shortened, because the store may have lost them, and a rebuild before the commit does not contain them.
   *
   * @throws StoreUnavailable
   */
  keep(familyIds: readonly string[]): Promise<void> {
    return this.write(familyIds, this.lifetime);
  }

  private async write(familyIds: readonly string[], seconds: number): Promise<void> {
    const keys = this.isOn ? familyIds.map((id) => familyKey(id, this.store)) : [];
    for (let at = 0; at < keys.length; at += AT_ONCE)
      await this.store.setMany(keys.slice(at, at + AT_ONCE), 'true', seconds);
  }

  /**
   * Denies one token by its id. Only the store records it, not PostgreSQL.
   *
   * @returns whether the token is denied: false for an empty id, and while `features.denylist` is off
   * @throws StoreUnavailable
   */
  async denyToken(jti: unknown): Promise<boolean> {
    if (!this.isOn || !isId(jti)) return false;
    await this.store.setMany([tokenKey(jti, this.store.slotTag(jti))], 'true', this.lifetime);
    return true;
  }

  /**
   * Reads the denials of a token and its session in one round trip, which calls within one tick of the event loop share.
   * Skips empty ids.
   *
   * @throws StoreUnavailable
   */
  read({ jti, fid }: { jti?: unknown; fid?: unknown }): Promise<StoredDenial> {
    if (!this.isOn) return Promise.resolve({ denied: false, complete: true });
    // A token is denied by itself only if it has no session. So the keys have the tag of the session if there is one.
    const session = isId(fid) ? familyName(fid) : '';
    const tag = this.store.slotTag(session || (isId(jti) ? jti : ''));
    const keys = [isId(jti) ? tokenKey(jti, tag) : '', session && FAMILY_KEYS + tag + session].filter(Boolean);
    const asked = this.isSharded ? this.denials([keys], tag).then(([only]) => only!) : this.joined(keys);
    return withinDeadline('The denylist', this.config.storeTimeoutMs, asked);
  }

  /** Of how many sessions the store certainly holds every denial. @throws StoreUnavailable if it is known of no group */
  async completeness(): Promise<Completeness> {
    if (!this.isOn) return 'all';
    const reads = await readEach(this.store.slotTags, (tag) => this.readMarked([], tag));
    const complete = reads.filter(({ isComplete }) => isComplete).length;
    if (complete === this.store.slotTags.length) return 'all';
    return complete > 0 ? 'some' : 'none';
  }

  /**
   * Whether a session is denied. Calls within one tick of the event loop share a round trip.
   *
   * @throws StoreUnavailable
   */
  async deniesFamily(familyId: string): Promise<boolean> {
    if (!this.isOn) return false;
    const read = async () => (await this.store.getMany([familyKey(familyId, this.store)]))[0] ?? null;
    const asked = this.isSharded ? read() : this.family(familyId);
    return (await withTimeout('The denylist', this.config.storeTimeoutMs, asked)) !== null;
  }

  private get isOn(): boolean {
    return this.realm.options.features.denylist;
  }

  /** In a sharded store, a batch would fail for every session in it if one server did not answer. */
  private get isSharded(): boolean {
    return this.store.slotTags.length > 1;
  }

  /** Reads the denials of tokens, whose keys have one slot tag, in one round trip. */
  private async denials(tokens: readonly (readonly string[])[], tag: string): Promise<StoredDenial[]> {
    const keys = tokens.flat();
    // An issuing node also reads PostgreSQL, so lost entries of the store are irrelevant there.
    const { entries, isComplete } = this.config.verifyOnly
      ? await this.readMarked(keys, tag)
      : { entries: keys.length ? await this.store.getMany(keys) : [], isComplete: false };
    let at = 0;
    return tokens.map(({ length }) => {
      const own = entries.slice(at, (at += length));
      return { denied: own.some((entry) => entry !== null), complete: isComplete };
    });
  }

  /** Reads keys with a slot tag, and whether the store certainly holds every denial with this tag. */
  private async readMarked(keys: readonly string[], tag: string) {
    const { values, continuity, isUnnamed } = await this.continuity.read([COMPLETE + tag, ...keys], tag);
    const [complete, ...entries] = values;
    return { entries, isComplete: complete !== null && complete === continuity && !isUnnamed };
  }
}

/** The largest number of denials in one call of the store: each call has the timeout of the store. */
const AT_ONCE = 1000;

const isId = (id: unknown): id is string => typeof id === 'string' && id !== '';

const PLAIN = /^[\x20-\x7e]{1,255}$/;

/** Seconds by which the clocks of nodes and stores may differ, beyond the leeway. */
export const CLOCK_MARGIN = 60;

/** Seconds for which an access token can be presented after it was minted. A denial lasts as long. */
export const longestLife = ({ accessTtl, leeway }: { accessTtl: number; leeway: number }): number =>
  accessTtl + leeway + CLOCK_MARGIN;

/** Prefix of the key of every denied session. */
export const FAMILY_KEYS = 'svc:dl:fid:';

/** Reads something of each slot tag. @returns the results of those that could be read @throws if none could be */
export async function readEach<T>(tags: readonly string[], read: (tag: string) => Promise<T>): Promise<T[]> {
  const results = await Promise.allSettled(tags.map(read));
  const values = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed && !values.length) throw failed.reason;
  return values;
}

type Tags = Pick<SecurityStore, 'slotTag'>;

/**
 * The id of a session in its key. A co-issuer may write UUIDs in upper case, and may use any text as the id of its own
 * sessions.
 */
const familyName = (familyId: string): string =>
  PLAIN.test(familyId) ? canonicalId(familyId) : `sha256:${sha256(familyId)}`;

/** The key under which a session is denied. */
export function familyKey(familyId: string, store: Tags): string {
  const name = familyName(familyId);
  return FAMILY_KEYS + store.slotTag(name) + name;
}

/** The key of one token, by its `jti`. */
export const tokenKey = (id: string, tag: string): string => `svc:dl:jti:${tag}${id}`;

/** Key of the continuity id with which the store holds every denial; one for each slot tag. */
export const COMPLETE = 'svc:dl:complete';
