import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
  type Type,
} from '@nestjs/common';
import { HttpAdapterHost, ModuleRef } from '@nestjs/core';
import { randomUUID } from 'node:crypto';
import { Clock, Realm, deadline, event, identity, manifest, session, settings } from '../../../kit';
import { BackgroundRows } from '../background-rows';
import { ReceiverLane } from './receiver-lane';
import { type SecurityChange, caepClaims, isRevocation } from './security-event.policy';
import { type NewSecurityEvent, SecurityEventStore } from './security-event.store';

/** `typ` of the tokens (RFC 8417 §2.3). No token of the library has this type, so a token for a receiver is no access token. */
const TYPE = 'secevent+jwt';

/**
 * Delivers the security events of a guard to the receivers of its options: at least once, and those of a user in order. An event is
 * stored after the change that has caused it, in the background; a process that is killed before loses it. From then on it is in
 * the table until its receiver accepts it, or it is given up.
 *
 * @publicApi
 */
@Injectable()
export class SecurityEventDelivery implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Auth');
  private readonly waiting: BackgroundRows<NewSecurityEvent>;
  private readonly lanes: readonly ReceiverLane[];

  constructor(
    private readonly store: SecurityEventStore,
    private readonly realm: Realm,
    private readonly clock: Clock,
    private readonly events: event.AuthEvents,
    background: deadline.BackgroundWork,
    private readonly moduleRef: ModuleRef,
    private readonly adapterHost: HttpAdapterHost,
    keyring: identity.Keyring,
    @Inject(manifest.MANIFESTS) private readonly manifests: readonly manifest.Feature[],
    @Inject(settings.AUTH_CONFIG) private readonly config: settings.AuthConfig,
  ) {
    this.waiting = new BackgroundRows('security events', background, async (rows) => {
      await this.store.add(rows);
      this.wake();
    });
    const sign = (claims: object): string => identity.signJws(keyring, TYPE, claims);
    const { receivers } = realm.options.securityEvents;
    this.lanes = config.verifyOnly ? [] : receivers.map((to) => new ReceiverLane(to, store, sign, this.logger, clock));
  }

  onModuleInit(): void {
    // Such a service has no table, and no key that signs.
    if (this.config.verifyOnly) return;
    const { guard } = this.realm;
    const on: event.ChangeContext['on'] = (change, listener) =>
      void this.events.on(change, (emitted) => (emitted.guard === guard ? listener(emitted) : undefined));
    on(session.SessionEnded, ({ userId, familyId: sessionId, reason }) => {
      if (isRevocation(reason)) this.add({ userId, sessionId, reason });
    });
    const context: event.ChangeContext = { on, get: (service) => this.moduleRef.get(service as Type) };
    for (const { source, ...credential } of this.manifests.flatMap(({ credentialChanges = [] }) => credentialChanges))
      source(context, (userId) => typeof userId === 'string' && this.add({ userId, credential }));
  }

  /** An application without an HTTP server, such as a console, only stores events. */
  onApplicationBootstrap(): void {
    if (this.adapterHost.httpAdapter) this.wake();
  }

  /** Requests that are still running may store events, which other processes deliver. */
  async onModuleDestroy(): Promise<void> {
    this.waiting.close();
    await Promise.all(this.lanes.map((lane) => lane.stop()));
  }

  /**
   * Delivers what is due now, and waits for it. The library does so itself while the process runs. For a host whose processes are
   * frozen between requests, in a job.
   */
  async deliver(): Promise<void> {
    await this.waiting.written();
    await Promise.all(this.lanes.map((lane) => lane.run()));
  }

  /**
   * Delivers again what was given up, after the receiver was corrected. Later events of the same user may have been delivered.
   *
   * @returns the number of tokens
   */
  async revive(): Promise<number> {
    const revived = await this.store.revive();
    this.wake();
    return revived;
  }

  private wake(): void {
    for (const lane of this.lanes) void lane.run();
  }

  private add(of: SecurityChange): void {
    const { issuer, securityEvents } = this.realm.options;
    const iat = this.clock.seconds();
    const claims = { iss: issuer, iat, ...caepClaims(of, issuer, iat) };
    for (const { name: receiver, audience: aud } of securityEvents.receivers)
      this.waiting.add({ userId: of.userId, receiver, claims: { ...claims, jti: randomUUID(), aud } });
  }
}
