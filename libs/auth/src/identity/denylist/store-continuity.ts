import { Inject, Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { StoreUnavailable } from '../../foundation/platform/errors';
import { sha256 } from '../../foundation/platform/crypto';
import { withTimeout } from '../../foundation/platform/deadline';
import { SecurityStore, UNNAMED } from '../../foundation/security-store/security-store';

/** Key of a random value that stays in the store until the store is emptied; one for each slot tag. */
const NONCE = 'svc:store';

/** Seconds. If the nonce expires, the store is treated like one that was emptied. */
const YEAR = 31_536_000;

/** Milliseconds between two reads while the store has no name, as during a failover. */
const PAUSE_MS = 25;

/** Values of the store, and the continuity id with which they were read. */
export interface ContinuousRead {
  readonly values: readonly (string | null)[];
  /** The store lost no data between two reads with the same id. Null while the id is unknown. */
  readonly continuity: string | null;
  /** Whether the id is unknown because the server that answered is: a loss is possible, but not certain. */
  readonly isUncertain: boolean;
  /** Whether the server that answered does not provide its name, so that a promoted replica has the same id. */
  readonly isUnnamed: boolean;
  /** Whether the keys move to another server at present. */
  readonly isMoving: boolean;
}

/**
 * Detects whether the security store lost data. The continuity id is computed from the server process and the value of
 * a random key in the store: a flush removes the key, and a restart or a promoted replica is another process.
 */
@Injectable()
export class StoreContinuity {
  constructor(
    private readonly store: SecurityStore,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  /**
   * Reads keys and the id in one round trip.
   *
   * @param tag the slot tag of the keys. The id is that of the keys with this tag
   * @throws StoreUnavailable
   */
  async read(keys: readonly string[], tag: string): Promise<ContinuousRead> {
    // The random value is last: a store that moves the keys to another server reads them in this order.
    const { values, instance, isMoving = false } = await this.store.getWithInstance([...keys, NONCE + tag]);
    const nonce = values[keys.length] ?? null;
    return {
      values: values.slice(0, keys.length),
      // Hashed, because login challenges contain it.
      continuity: nonce !== null && instance !== null ? sha256(`${instance}:${nonce}`).slice(0, 32) : null,
      isUncertain: nonce !== null && instance === null,
      isUnnamed: instance === UNNAMED,
      isMoving,
    };
  }

  /**
   * Reads keys together with the current id. Creates the random value if it is missing.
   *
   * @throws StoreUnavailable if there is no id in time
   */
  readCurrent(keys: readonly string[], tag: string): Promise<ContinuousRead & { continuity: string }> {
    return withTimeout('The store', this.config.storeTimeoutMs, this.find(keys, tag));
  }

  /** Creates the random value of a tag if it is missing. @throws StoreUnavailable */
  async begin(tag: string): Promise<void> {
    await this.store.add(NONCE + tag, randomUUID(), YEAR);
  }

  private async find(keys: readonly string[], tag: string): Promise<ContinuousRead & { continuity: string }> {
    const end = performance.now() + this.config.storeTimeoutMs;
    for (let attempt = 0; ; attempt++) {
      const { continuity, ...read } = await this.read(keys, tag);
      if (continuity !== null) return { ...read, continuity };
      if (performance.now() > end) throw new StoreUnavailable('The store');
      if (!read.isUncertain) await this.begin(tag);
      // Not awaited: another master of a sharded store may not answer.
      else if (attempt === 0) this.store.identify().catch(() => undefined);
      if (attempt > 0) await sleep(PAUSE_MS);
    }
  }
}
