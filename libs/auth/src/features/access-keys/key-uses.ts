import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Clock, Realm, deadline, event } from '../../kit';
import { KeyUsedFromNewNetwork } from './access-keys.events';
import { AccessKeyStore, type KeyUse } from './access-key.store';
import { placeOf } from './key-networks';

/** Milliseconds for which uses are collected. */
const FLUSH_MS = 60_000;

/** The largest number of uses that are collected, and that one statement records. */
const AT_ONCE = 1_000;

/**
 * Records when, and from which networks, keys are used: at most once a minute for a key and a network, after the response. A process
 * that ends without a shutdown loses the last minute.
 */
@Injectable()
export class KeyUses implements OnModuleDestroy {
  private readonly waiting = new Map<string, KeyUse>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly store: AccessKeyStore,
    private readonly events: event.AuthEvents,
    private readonly clock: Clock,
    private readonly realm: Realm,
  ) {}

  /** @param macOf computes the HMAC under the current root, once for what is recorded */
  note(id: string, ip: unknown, macOf: () => string): void {
    const place = placeOf(ip);
    const name = `${id} ${place}`;
    const mac = this.waiting.get(name)?.mac ?? macOf();
    this.waiting.set(name, { id, place, mac, at: new Date(this.clock.now()) });
    if (this.waiting.size >= AT_ONCE) void this.flush();
    else this.timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  async onModuleDestroy(): Promise<void> {
    await this.flush();
  }

  /** Records what is waiting. An error is logged: no request depends on it. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const uses = [...this.waiting.values()];
    this.waiting.clear();
    if (!uses.length) return Promise.resolve();
    const { guard } = this.realm;
    return deadline.bestEffort('recording uses of access keys', async () => {
      for (const { id, userId, service, place } of await this.store.record(uses))
        this.events.emit(new KeyUsedFromNewNetwork(guard, userId, service, id, place));
    });
  }
}
