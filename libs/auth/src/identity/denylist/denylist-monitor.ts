import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { isMissing } from '../../foundation/platform/database';
import { StoreUnavailable } from '../../foundation/platform/errors';
import { withTimeout } from '../../foundation/platform/deadline';
import { SecurityStore, UNNAMED } from '../../foundation/security-store/security-store';
import { COMPLETE, FAMILY_KEYS, familyKey, longestLife } from './denylist';
import { type EndedSince, EndedSessions } from './ended-sessions';
import { StoreContinuity } from './store-continuity';

const LOOK_MS = 1000;
const LEASE = 'svc:dl:lease';

/** Seconds after which another node can take the lease of a node that stopped. */
const LEASE_SECONDS = 5;
const YEAR = 31_536_000;

/** The timeline of PostgreSQL and the key under which to store it after the lost commits are repaired. */
interface Commits {
  readonly key: string;
  readonly timeline: string;
}

interface Losses {
  /** Current continuity id of the store. */
  readonly continuity: string;
  /** Whether the store may have lost denials. */
  readonly denials: boolean;
  /** Null if PostgreSQL has lost no commits. */
  readonly commits: Commits | null;
}

const isLost = ({ denials, commits }: Losses): boolean => denials || commits !== null;

/**
 * Keeps the ended sessions in Redis and PostgreSQL consistent. Once a second an issuing node checks whether one of them
 * lost data:
 *
 * - The store lost denials (flush, restart, promoted replica): the node writes them again from `svc_sessions`, and marks
 *   the store complete. Until then services that only verify answer 503. Issuing nodes read PostgreSQL and do not wait.
 * - PostgreSQL lost commits (promoted standby, visible as a new timeline): the node ends in `svc_sessions` the sessions
 *   that the store still denies.
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
      if (await this.ended.isIssuer()) await this.repair();
    } catch (error) {
      const { message, stack } = error as Error;
      // `SchemaCheck` reports missing tables.
      if (error instanceof StoreUnavailable || isMissing(error)) return;
      this.logger.error(`the denylist: ${message}`, stack);
    }
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
    if (!isLost(await this.losses()) || !(await this.store.add(LEASE, this.node, LEASE_SECONDS))) return;
    try {
      // Checked again under the lease: another node may have just finished the repair.
      const { continuity, denials, commits } = await this.losses();
      if (denials) await this.repairStore(continuity);
      if (commits) await this.repairDatabase(commits, continuity);
    } finally {
      await this.store.take(LEASE).catch(() => undefined);
    }
  }

  private async losses(): Promise<Losses> {
    const continuity = await this.continuity.current();
    const database = await this.ended.timeline();
    const key = `svc:db:${database?.database}`;
    const [complete, storedTimeline] = await this.store.getMany([COMPLETE, key]);
    // A standby is no source for a repair: it may have fewer ends than the store.
    if (database?.isStandby) return { continuity, denials: false, commits: null };
    const commits = database && storedTimeline !== database.timeline ? { key, timeline: database.timeline } : null;
    return { continuity, denials: complete !== continuity, commits };
  }

  /** Writes every denial to the store. `continuity` was read before PostgreSQL, so that a later loss changes the id. */
  private async repairStore(continuity: string): Promise<void> {
    let [last, written]: [EndedSince | undefined, number] = [undefined, 0];
    for (;;) {
      const batch: EndedSince[] = await this.ended.since(this.life, last);
      last = batch.at(-1);
      if (!last) break;
      // The last entry of a batch has the longest remaining life. A longer denial of the others is harmless.
      await this.store.setMany(
        batch.map(({ id }) => familyKey(id)),
        'true',
        Math.max(1, last.seconds),
      );
      written += batch.length;
      await this.renewLease();
    }
    await this.store.setMany([COMPLETE], continuity, YEAR);
    if (written)
      this.logger.log(`The denylist in the store was incomplete. ${written} ended sessions were written to it.`);
  }

  private async repairDatabase({ key, timeline }: Commits, continuity: string): Promise<void> {
    let ended = 0;
    for await (const keys of this.store.scan(FAMILY_KEYS)) {
      ended += await this.ended.end(keys.map((familyEntry) => familyEntry.slice(FAMILY_KEYS.length)));
      await this.renewLease();
    }
    // If the store lost data during the scan, the scan may be incomplete. The next check repeats it.
    const isComplete = (await this.continuity.read([])).continuity === continuity;
    if (isComplete) await this.store.setMany([key], timeline, YEAR);
    if (ended) this.logger.warn(`PostgreSQL had lost the end of ${ended} sessions, which the store still denied.`);
  }

  private async renewLease(): Promise<void> {
    if (this.isClosing) throw new StoreUnavailable('The store');
    await this.store.setMany([LEASE], this.node, LEASE_SECONDS);
  }

  /** Longest time in seconds for which an access token of any guard can be presented. */
  private get life(): number {
    return Math.max(...this.config.guards.map(longestLife));
  }
}
