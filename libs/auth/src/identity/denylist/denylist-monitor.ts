import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { AuthConfigError, StoreUnavailable } from '../../foundation/platform/errors';
import { withTimeout } from '../../foundation/platform/deadline';
import { SecurityStore, UNNAMED } from '../../foundation/security-store/security-store';
import { COMPLETE, FAMILY_KEYS, familyKey, longestLife } from './denylist';
import { type EndedSince, EndedSessions } from './ended-sessions';
import { StoreContinuity } from './store-continuity';

const LOOK_MS = 1000;
const LEASE = 'svc:dl:lease';

/** Seconds after which another node takes over from one that stopped. */
const LEASE_SECONDS = 5;
const YEAR = 31_536_000;

/** Where the timeline of PostgreSQL is to be noted once the lost commits are made good. */
interface Commits {
  readonly key: string;
  readonly timeline: string;
}

interface Losses {
  /** Of the store, now. */
  readonly continuity: string;
  /** Whether the store may have lost denials. */
  readonly denials: boolean;
  /** Null where PostgreSQL has lost no commits. */
  readonly commits: Commits | null;
}

const isLost = ({ denials, commits }: Losses): boolean => denials || commits !== null;

/**
 * Keeps Redis and PostgreSQL of one mind on ended sessions. Once a second an issuing node looks whether one of them
 * lost data:
 *
 * - The store lost denials (flush, restart, promoted replica): the node writes them again from `svc_sessions`, and marks
 *   the store complete. Until then services that only verify answer 503; issuing nodes ask PostgreSQL and wait for nothing.
 * - PostgreSQL lost commits (promoted standby, visible as a new timeline): the node ends in `svc_sessions` what the
 *   store still denies.
 *
 * A lease in the store lets one node at a time do so. Two at once would do no harm.
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

  /** @throws AuthConfigError where sessions are to be started and their table is missing */
  async onApplicationBootstrap(): Promise<void> {
    const started = withTimeout('The denylist', this.config.storeTimeoutMs, this.start());
    await started.catch((error: unknown) => {
      // A store that is not reachable yet does not keep the application from starting: requests get 503 until it is.
      if (!(error instanceof StoreUnavailable)) throw error;
    });
    this.timer = setInterval(() => void this.look(), LOOK_MS).unref();
  }

  async onModuleDestroy(): Promise<void> {
    this.isClosing = true;
    clearInterval(this.timer);
    await this.looking;
  }

  /** Looks once, and repairs what was lost. Never rejects. */
  look(): Promise<void> {
    if (this.isClosing) return Promise.resolve();
    return (this.looking ??= this.attempt().finally(() => (this.looking = undefined)));
  }

  private async start(): Promise<void> {
    if (this.config.routes && !(await this.ended.hasTable())) {
      throw new AuthConfigError(
        'The table svc_sessions is missing. Add authEntities to the entities of your data source, and run authMigrations.',
      );
    }
    await this.look();
  }

  private async attempt(): Promise<void> {
    try {
      await this.store.identify();
      this.warnOfNamelessStore();
      if (await this.ended.isIssuer()) await this.repair();
    } catch (error) {
      const { message, stack } = error as Error;
      if (!(error instanceof StoreUnavailable)) this.logger.error(`the denylist: ${message}`, stack);
    }
  }

  private warnOfNamelessStore(): void {
    if (this.isWarned || this.store.instance !== UNNAMED) return;
    this.isWarned = true;
    this.logger.warn(
      'Redis does not say which server it is. Allow INFO to its user (ACL: +info). Until then services that only verify ' +
        'answer 503, because a promoted replica could not be noticed.',
    );
  }

  private async repair(): Promise<void> {
    if (!isLost(await this.losses()) || !(await this.store.add(LEASE, this.node, LEASE_SECONDS))) return;
    try {
      // Looked at again: another node may have been done with it a moment ago.
      const { continuity, denials, commits } = await this.losses();
      if (denials) await this.tellStore(continuity);
      if (commits) await this.tellDatabase(commits, continuity);
    } finally {
      await this.store.take(LEASE).catch(() => undefined);
    }
  }

  private async losses(): Promise<Losses> {
    const continuity = await this.continuity.current();
    const database = await this.ended.timeline();
    const key = `svc:db:${database?.database}`;
    const [complete, noted] = await this.store.getMany([COMPLETE, key]);
    // A standby tells nobody anything: it may know of fewer ends than the store.
    if (database?.isStandby) return { continuity, denials: false, commits: null };
    const commits = database && noted !== database.timeline ? { key, timeline: database.timeline } : null;
    return { continuity, denials: complete !== continuity, commits };
  }

  /** Writes every denial to the store. Reads PostgreSQL only after the continuity is known: a later loss changes it. */
  private async tellStore(continuity: string): Promise<void> {
    let [last, told]: [EndedSince | undefined, number] = [undefined, 0];
    for (;;) {
      const batch: EndedSince[] = await this.ended.since(this.life, last);
      last = batch.at(-1);
      if (!last) break;
      // The last entry of a batch lives longest. To deny the others for longer than needed is harmless.
      await this.store.setMany(
        batch.map(({ id }) => familyKey(id)),
        'true',
        Math.max(1, last.seconds),
      );
      told += batch.length;
      await this.renewLease();
    }
    await this.store.setMany([COMPLETE], continuity, YEAR);
    if (told) this.logger.log(`The store had no complete denylist. ${told} ended sessions were written to it.`);
  }

  private async tellDatabase({ key, timeline }: Commits, continuity: string): Promise<void> {
    let ended = 0;
    for await (const keys of this.store.scan(FAMILY_KEYS)) {
      ended += await this.ended.end(keys.map((one) => one.slice(FAMILY_KEYS.length)));
      await this.renewLease();
    }
    // Where the store lost data meanwhile, the scan may have missed some: it is done again at the next look.
    const isWhole = (await this.continuity.read([])).continuity === continuity;
    if (isWhole) await this.store.setMany([key], timeline, YEAR);
    if (ended) this.logger.warn(`PostgreSQL had lost the end of ${ended} sessions, which the store still denied.`);
  }

  private async renewLease(): Promise<void> {
    if (this.isClosing) throw new StoreUnavailable('The store');
    await this.store.setMany([LEASE], this.node, LEASE_SECONDS);
  }

  /** Seconds that any guard's access token may be presented after it was minted. */
  private get life(): number {
    return Math.max(...this.config.guards.map(longestLife));
  }
}
