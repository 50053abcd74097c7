import { Inject, Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { StoreUnavailable } from '../../foundation/platform/errors';
import { sha256 } from '../../foundation/platform/crypto';
import { withTimeout } from '../../foundation/platform/deadline';
import { SecurityStore } from '../../foundation/security-store/security-store';

/** A random value that is in the store for as long as the store has not been emptied. */
const NONCE = 'svc:store';

/** Seconds. The nonce is to stay; a store that lets it expire is treated like one that was emptied. */
const YEAR = 31_536_000;

/** Values of the store, and the id of the uninterrupted data that they were read from. */
export interface ContinuousRead {
  readonly values: readonly (string | null)[];
  /** Two reads with the same id: the store lost nothing between them. Null while that is not known. */
  readonly continuity: string | null;
}

/**
 * Tells whether the security store lost data. An id names the server process and the value of a random key in it: a
 * flush removes the key, a restart and a promoted replica are other processes.
 */
@Injectable()
export class StoreContinuity {
  private known = { source: '', id: '' };

  constructor(
    private readonly store: SecurityStore,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  /** Reads keys and the id in one round trip. @throws StoreUnavailable */
  async read(keys: readonly string[]): Promise<ContinuousRead> {
    const before = this.store.instance;
    const values = await this.store.getMany([...keys, NONCE]);
    const nonce = values[keys.length] ?? null;
    const isKnown = nonce !== null && before !== null && before === this.store.instance;
    return { values: values.slice(0, keys.length), continuity: isKnown ? this.idOf(before, nonce) : null };
  }

  /** The id of now. Creates the random key where it is missing. @throws StoreUnavailable where there is none in time */
  current(): Promise<string> {
    return withTimeout('The store', this.config.storeTimeoutMs, this.find());
  }

  /** Hashed, because it leaves the application in login challenges. */
  private idOf(instance: string, nonce: string): string {
    const source = `${instance}:${nonce}`;
    if (source !== this.known.source) this.known = { source, id: sha256(source).slice(0, 32) };
    return this.known.id;
  }

  private async find(): Promise<string> {
    const end = performance.now() + this.config.storeTimeoutMs;
    for (;;) {
      const { continuity } = await this.read([]);
      if (continuity !== null) return continuity;
      if (performance.now() > end) throw new StoreUnavailable('The store');
      await this.store.add(NONCE, randomUUID(), YEAR);
      if (this.store.instance === null) await this.store.identify();
    }
  }
}
