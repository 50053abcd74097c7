import { Inject, Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { AUTH_CONFIG, type AuthConfig } from '../config/auth-config';
import { StoreUnavailable } from '../kernel/auth.exception';
import { Clock } from '../kernel/clock';
import { answered } from '../kernel/unavailable';
import { SecurityStore } from '../security-store/security-store';
import { DenylistRebuild, LATEST, LEASE_SECONDS, epochKey } from './denylist-rebuild';
import { type Knowledge, REPAIR_SECONDS, isWhole, mayAdopt } from './epoch.policy';
import { RevocationStore } from './revocation.store';

/** Milliseconds between two looks at a rebuild, and between two attempts at one. */
const PAUSE_MS = 50;

/** What the store answered. */
export interface Entries {
  readonly values: readonly (string | null)[];
  /** The epoch whose entries are all there; null where a key may be absent because it was lost. */
  readonly epoch: string | null;
}

/**
 * Knows whether the store has lost entries, and has them told again. It asks for the key of an epoch along with
 * everything else, so that a loss shows in the very answer that would have been wrong.
 */
@Injectable()
export class DenylistEpochs {
  private readonly logger = new Logger('Auth');
  private known: (Knowledge & { since: number }) | null = null;
  private floor?: { connection: number; number: number | null };
  private recovering?: Promise<void>;
  private paused: Promise<void> = Promise.resolve();
  private closing = false;

  constructor(
    private readonly store: SecurityStore,
    private readonly rebuild: DenylistRebuild,
    private readonly revocations: RevocationStore,
    private readonly clock: Clock,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  /** Reads keys, in one round trip. What is lost is told again behind the answer. @throws StoreUnavailable */
  async read(keys: readonly string[]): Promise<Entries> {
    const { known } = this;
    const before = this.store.connection;
    const values = await this.store.getMany([...keys, epochKey(known?.epoch ?? 'none')]);
    const mark = values[keys.length] ?? null;
    const whole = isWhole(known, { mark, before, after: this.store.connection });
    if (known && mark === null) this.lose(known);
    if (!whole) void this.recover();
    return { values: values.slice(0, keys.length), epoch: whole ? known!.epoch : null };
  }

  /**
   * An epoch of now. As long as its key is in the store, an entry written from here on is in the store too.
   * @throws StoreUnavailable where there is none in time
   */
  async current(): Promise<string> {
    const end = performance.now() + this.config.storeTimeoutMs;
    for (;;) {
      const { epoch } = await this.read([]);
      if (epoch !== null) return epoch;
      const left = end - performance.now();
      if (left <= 0 || this.closing) throw new StoreUnavailable('The store');
      await answered('The store', left, this.recover());
    }
  }

  /** Whether it is time to have the denylist told again. */
  get isDue(): boolean {
    const { known } = this;
    if (known?.connection !== this.store.connection) return true;
    return this.clock.now() - known.since > REPAIR_SECONDS * 1000;
  }

  /** Finds an epoch to rely on, or begins one. Never throws: whoever asks meanwhile asks PostgreSQL. */
  recover(): Promise<void> {
    if (this.closing) return Promise.resolve();
    this.recovering ??= this.afterPause();
    return this.recovering;
  }

  /** Begins nothing any more, and waits for what has begun: the connections are about to close. */
  async rest(): Promise<void> {
    this.closing = true;
    await this.recovering;
  }

  private lose(known: Knowledge): void {
    if (this.known?.epoch !== known.epoch) return;
    this.known = null;
    this.logger.warn('The store has lost data. Revocations are asked of PostgreSQL until it knows them again.');
  }

  /** One attempt, a while after the one before: a store that is down, or forgets at once, is not asked all the time. */
  private async afterPause(): Promise<void> {
    await this.paused;
    try {
      await this.attempt();
    } catch (error) {
      const { message, stack } = error as Error;
      if (!(error instanceof StoreUnavailable)) this.logger.error(`the denylist: ${message}`, stack);
    }
    this.paused = sleep(PAUSE_MS);
    this.recovering = undefined;
  }

  private async attempt(): Promise<void> {
    const { connection } = this.store;
    const floor = await this.floorOf(connection);
    const patience = performance.now() + (LEASE_SECONDS + 1) * 1000;
    while (performance.now() < patience && !this.closing) {
      const epoch = (await this.finished(floor)) ?? (floor === null ? null : await this.rebuild.run());
      if (epoch !== null) this.known = { connection, epoch, since: this.clock.now() };
      // A service that only verifies has nothing to rebuild from; it waits for those that have.
      if (epoch !== null || floor === null || this.store.connection !== connection) return;
      await sleep(PAUSE_MS, undefined, { ref: false });
    }
  }

  /** The epoch of a rebuild that may be relied on. */
  private async finished(floor: number | null): Promise<string | null> {
    const [latest] = await this.store.getMany([LATEST]);
    if (!latest) return null;
    const [mark] = await this.store.getMany([epochKey(latest)]);
    const alive = mark !== null;
    if (floor === null) return alive ? latest : null;
    const row = alive ? await this.revocations.epoch(latest) : null;
    return mayAdopt({ row, alive }, floor) ? latest : null;
  }

  private async floorOf(connection: number): Promise<number | null> {
    if (this.floor?.connection !== connection || this.floor.number === null) {
      this.floor = { connection, number: await this.revocations.latest() };
    }
    return this.floor.number;
  }
}
