import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { isMissing } from '../../foundation/platform/pg-errors';
import { StoreUnavailable } from '../../foundation/platform/errors';
import { isUnavailable, valueIf, withTimeout } from '../../foundation/platform/deadline';
import { SecurityStore, UNNAMED } from '../../foundation/security-store/security-store';
import { COMPLETE, FAMILY_KEYS, familyKey, longestLife, readEach } from './denylist';
import { type EndedSince, EndedSessions } from './ended-sessions';
import { StoreContinuity } from './store-continuity';

/** Milliseconds between two checks. */
export const LOOK_MS = 1000;
export const LEASE = 'svc:dl:lease';

/** Seconds after which another node can take the lease of a node that stopped. */
export const LEASE_SECONDS = 5;
const YEAR = 31_536_000;

/** The timeline of PostgreSQL and the key under which to store it after the lost commits are repaired. */
interface Commits {
  readonly key: string;
  readonly timeline: string;
}

/**
 * Seconds for which the store keeps the timeline. Then it is unknown, and a node compares all denials with PostgreSQL again. So
 * an end that was denied and not committed is finished also if no process and no client repeats it. A third of the life of a
 * denial of an ended session, and at least this.
 */
const MIN_COMPARISON_SECONDS = 60;

/** Current continuity ids of the store by slot tag. */
type Continuity = ReadonlyMap<string, string>;

interface Losses {
  readonly continuity: Continuity;
  /** The slot tags whose denials the store may have lost. */
  readonly tags: ReadonlySet<string>;
  /** Null if PostgreSQL has lost no commits. */
  readonly commits: Commits | null;
}

/** Of an engine without a timeline. Lost commits are found at the next comparison. */
const UNKNOWN_TIMELINE = { database: '', timeline: '' };

const isLost = ({ tags, commits }: Losses): boolean => tags.size > 0 || commits !== null;

/**
 * Keeps the ended sessions in Redis and PostgreSQL consistent. Once a second an issuing node checks whether one of them
 * lost data:
 *
 * - The store lost denials (flush, restart, promoted replica): the node writes them again from `svc_sessions`, and marks
 *   the store complete. Until then services that only verify answer 503. Issuing nodes read PostgreSQL and do not wait.
 * - PostgreSQL lost commits (promoted standby, visible as a new timeline): the node ends in `svc_sessions` the sessions
 *   that the store still denies. The same is done from time to time, for ends that were denied and never committed.
 *
 * A lease in the store limits the repair to one node at a time. Concurrent repairs would be harmless.
 */
@Injectable()
export class DenylistMonitor implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Auth');
  private readonly node = randomUUID();
  private timer?: NodeJS.Timeout;
  private looking?: Promise<void>;
  private isClosing = false;
  private isWarned = false;
  private refusal?: string;
  private hasLease = false;

  constructor(
    private readonly store: SecurityStore,
    private readonly continuity: StoreContinuity,
    private readonly ended: EndedSessions,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    // The application starts without a reachable store. Requests get 503 until the store is reachable.
    await withTimeout('The denylist', this.config.storeTimeoutMs, this.look()).catch(() => undefined);
    this.timer = setInterval(() => void this.look(), LOOK_MS).unref();
  }

  async onModuleDestroy(): Promise<void> {
    this.isClosing = true;
    clearInterval(this.timer);
    await this.looking;
  }

  /** Checks once, and repairs losses. Never rejects. */
  look(): Promise<void> {
    if (this.isClosing) return Promise.resolve();
    return (this.looking ??= this.attempt().finally(() => (this.looking = undefined)));
  }

  private async attempt(): Promise<void> {
    try {
      await this.store.identify();
      this.warnOfNamelessStore();
      if (this.ended.areOwn) await this.repair();
      this.refusal = undefined;
    } catch (error) {
      const { message, stack } = error as Error;
      if (error instanceof StoreUnavailable) this.warnOfRefusal(error);
      // `SchemaCheck` reports missing tables.
      if (error instanceof StoreUnavailable || isMissing(error)) return;
      this.logger.error(`the denylist: ${message}`, stack);
    }
  }

  /** Once for each code. Other failures of a store are logged where they occur. */
  private warnOfRefusal({ refusal, message }: StoreUnavailable): void {
    if (refusal === undefined || refusal === this.refusal) return;
    this.refusal = refusal;
    this.logger.warn(`The denylist could not be compared with PostgreSQL: ${message}.`);
  }

  private warnOfNamelessStore(): void {
    if (this.isWarned || this.store.instance !== UNNAMED) return;
    this.isWarned = true;
    this.logger.warn(
      'Redis does not report which server it is. Allow INFO for its user (ACL: +info). Until then services that only ' +
        'verify answer 503, because a promoted replica could not be detected.',
    );
  }

  private async repair(): Promise<void> {
    if (!isLost(await this.losses()) || !(await this.takeLease())) return;
    try {
      // Checked again under the lease: another node may have just finished the repair.
      const { continuity, tags, commits } = await this.losses();
      if (tags.size) await this.repairStore(continuity, tags);
      if (commits) await this.repairDatabase(commits, continuity);
    } finally {
      if (this.hasLease) await this.store.take(LEASE).catch(() => undefined);
    }
  }

  /**
   * A slot tag that cannot be read is left for the next check: its master is away, or its slot moves. The others do not
   * wait for it.
   */
  private async losses(): Promise<Losses> {
    const read = await readEach(this.store.slotTags, (tag) => this.markOf(tag));
    const marks = read.filter((one) => one !== null);
    const continuity = new Map(marks.map(([tag, , id]) => [tag, id]));
    if (!continuity.size) throw new StoreUnavailable('The store');
    const database = await this.ended.timeline();
    // A standby is no source for a repair: it may have fewer ends than the store.
    if (database?.isStandby) return { continuity, tags: new Set(), commits: null };
    const tags = new Set(marks.filter(([, mark, id]) => mark !== id).map(([tag]) => tag));
    // The store is scanned for lost commits only if all its masters answer.
    if (continuity.size < this.store.slotTags.length) return { continuity, tags, commits: null };
    const { database: name, timeline } = database ?? UNKNOWN_TIMELINE;
    const key = `svc:db:${name}`;
    // In a sharded store, the server of this key may be the one that is away: the denials of the others are repaired first.
    const [stored] = await this.store.getMany([key]).catch(valueIf(isUnavailable, [timeline]));
    return { continuity, tags, commits: stored === timeline ? null : { key, timeline } };
  }

  /** The mark and the current id of a slot tag; null if it has no id. @throws StoreUnavailable */
  private async markOf(tag: string): Promise<[tag: string, mark: string | null, id: string] | null> {
    const read = () => this.continuity.read([COMPLETE + tag], tag);
    let found = await read();
    if (found.continuity === null && !found.isUncertain) {
      await this.continuity.begin(tag);
      found = await read();
    }
    const { continuity, values, isMoving } = found;
    // The server to which the keys move can be lost before the end of the move. If the move is then cancelled, the former
    // server has its name and its data as before, but not the keys that it has moved.
    if (isMoving) await this.store.take(COMPLETE + tag);
    return continuity === null ? null : [tag, values[0] ?? null, continuity];
  }

  /**
   * Writes the denials with these slot tags to the store. The continuity ids were read before PostgreSQL, so that a later
   * loss changes them.
   */
  private async repairStore(continuity: Continuity, tags: ReadonlySet<string>): Promise<void> {
    let [last, written]: [EndedSince | undefined, number] = [undefined, 0];
    for (;;) {
      const batch: EndedSince[] = await this.ended.since(this.life, last);
      last = batch.at(-1);
      if (!last) break;
      const lost = batch.filter(({ id }) => tags.has(this.store.slotTag(id)));
      // The last entry of a batch has the longest remaining life. A longer denial of the others is harmless.
      await this.store.setMany(
        lost.map(({ id }) => familyKey(id, this.store)),
        'true',
        Math.max(1, last.seconds),
      );
      written += lost.length;
      await this.renewLease();
    }
    await Promise.all([...tags].map((tag) => this.store.setMany([COMPLETE + tag], continuity.get(tag)!, YEAR)));
    if (written)
      this.logger.log(`The denylist in the store was incomplete. ${written} ended sessions were written to it.`);
  }

  private async repairDatabase({ key, timeline }: Commits, continuity: Continuity): Promise<void> {
    let ended = 0;
    const idAt = FAMILY_KEYS.length + this.store.slotTags[0]!.length;
    for await (const keys of this.store.scan(FAMILY_KEYS)) {
      ended += await this.ended.end(keys.map((entry) => entry.slice(idAt)));
      await this.renewLease();
    }
    // If the store lost data during the scan, the scan may be incomplete. The next check repeats it.
    const isKept = async ([tag, id]: [string, string]): Promise<boolean> =>
      (await this.continuity.read([], tag)).continuity === id;
    const isComplete = (await Promise.all([...continuity].map(isKept))).every(Boolean);
    const seconds = Math.max(MIN_COMPARISON_SECONDS, Math.floor(this.life / 3));
    if (isComplete) await this.store.setMany([key], timeline, seconds);
    if (ended)
      this.logger.warn(`${ended} sessions that the store denied were live in PostgreSQL. They were ended there.`);
  }

  /** In a sharded store, a node repairs without the lease if the master of the lease does not answer. */
  private async takeLease(): Promise<boolean> {
    this.hasLease = true;
    try {
      return await this.store.add(LEASE, this.node, LEASE_SECONDS);
    } catch (error) {
      if (this.store.slotTags.length === 1) throw error;
      this.hasLease = false;
      return true;
    }
  }

  private async renewLease(): Promise<void> {
    if (this.isClosing) throw new StoreUnavailable('The store');
    if (this.hasLease) await this.store.setMany([LEASE], this.node, LEASE_SECONDS);
  }

  /** Longest time in seconds for which an access token of any guard can be presented. */
  private get life(): number {
    return Math.max(...this.config.guards.map(longestLife));
  }
}
