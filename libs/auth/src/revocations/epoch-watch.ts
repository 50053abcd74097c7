import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../config/auth-config';
import { AuthConfigError, StoreUnavailable } from '../kernel/auth.exception';
import { answered } from '../kernel/unavailable';
import { DenylistEpochs } from './denylist-epochs';
import { RevocationStore } from './revocation.store';

const LOOK_MS = 1000;

/** Has the denylist told at the start, after a reconnect, and now and then: no request has to find out first. */
@Injectable()
export class EpochWatch implements OnApplicationBootstrap, OnModuleDestroy {
  private timer?: NodeJS.Timeout;
  private looking?: Promise<void>;

  constructor(
    private readonly epochs: DenylistEpochs,
    private readonly revocations: RevocationStore,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {}

  /** @throws AuthConfigError where sessions are to be ended and the table that remembers it is missing */
  async onApplicationBootstrap(): Promise<void> {
    await answered('The denylist', this.config.storeTimeoutMs, this.start()).catch((error: unknown) => {
      // Stores that are not there yet are no reason not to start: requests are refused until they are.
      if (!(error instanceof StoreUnavailable)) throw error;
    });
    this.timer = setInterval(() => void this.look(), LOOK_MS).unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    await this.looking;
    await this.epochs.rest();
  }

  private async start(): Promise<void> {
    if (this.config.routes && (await this.revocations.latest()) === null) {
      throw new AuthConfigError(
        'The tables svc_revocations and svc_denylist_epochs are missing. Add authEntities to the entities of your ' +
          'data source, and run authMigrations.',
      );
    }
    await this.epochs.recover();
  }

  private look(): void {
    if (this.looking || !this.epochs.isDue) return;
    this.looking = this.tell().finally(() => (this.looking = undefined));
  }

  private async tell(): Promise<void> {
    await this.epochs.recover();
    await this.revocations.prune().catch(() => undefined);
  }
}
