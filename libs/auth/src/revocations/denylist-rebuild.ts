import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { SecurityStore } from '../security-store/security-store';
import { familyKey } from './denial-id';
import { EPOCH_SECONDS, RevocationStore, type Standing } from './revocation.store';

/** Names the epoch whose rebuild was finished last. */
export const LATEST = 'svc:dl:epoch';

/** The key of one epoch: it goes with everything else that the store loses. */
export const epochKey = (epoch: string): string => `svc:dl:epoch:${epoch}`;

const LEASE = 'svc:dl:rebuild';

/** Seconds after which another process takes over from one that died. */
export const LEASE_SECONDS = 3;

/** Tells the store again what PostgreSQL knows. Of many processes at once, one does; two would do no harm. */
@Injectable()
export class DenylistRebuild {
  constructor(
    private readonly store: SecurityStore,
    private readonly revocations: RevocationStore,
  ) {}

  /** The epoch that began with it; null where another process is at it, or the store was lost meanwhile. */
  async run(): Promise<string | null> {
    const { connection } = this.store;
    const epoch = randomUUID();
    if (!(await this.store.add(LEASE, epoch, LEASE_SECONDS))) return null;
    try {
      // In this order nothing slips through. A revocation reaches the store before it commits: one that did so
      // before a loss is settled, and read; one that does so later finds the key there, and goes only with it.
      await this.revocations.begin(epoch);
      await this.store.setMany([epochKey(epoch)], 'true', EPOCH_SECONDS);
      await this.revocations.settle();
      await this.tellAll(epoch);
      if (this.store.connection !== connection) return null;
      await this.store.setMany([LATEST], epoch, EPOCH_SECONDS);
      return this.store.connection === connection ? epoch : null;
    } finally {
      await this.store.take(LEASE).catch(() => undefined);
    }
  }

  private async tellAll(epoch: string): Promise<void> {
    let last: Standing | undefined;
    for (;;) {
      const batch = await this.revocations.batch(last);
      last = batch.at(-1);
      if (!last) return;
      // By time of expiry, so that the last one lives longest. Denied for longer than needed is denied.
      await this.store.setMany(
        batch.map(({ familyId }) => familyKey(familyId)),
        'true',
        Math.max(1, last.seconds),
      );
      await this.store.setMany([LEASE], epoch, LEASE_SECONDS);
    }
  }
}
