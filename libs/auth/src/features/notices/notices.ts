import { Inject, Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { Clock, Realm, event, identity, mailing, manifest } from '../../kit';
import { isMailed } from './notices.options';

/**
 * Mails the owners of accounts about changes, on the events of the library: after the commit of the change and outside every lock.
 * A notice that is off has no listener, nor has one of a feature that is off. Each is prepared and sent after the response.
 */
@Injectable()
export class Notices implements OnModuleInit {
  constructor(
    private readonly users: identity.TimedUserProvider,
    private readonly provedEmails: identity.ProvedEmails,
    private readonly queue: mailing.MailQueue,
    private readonly mails: mailing.AccountMails,
    private readonly clock: Clock,
    private readonly events: event.AuthEvents,
    private readonly realm: Realm,
    private readonly moduleRef: ModuleRef,
    @Inject(manifest.MANIFESTS) private readonly manifests: readonly manifest.Feature[],
  ) {}

  onModuleInit(): void {
    const { guard, options } = this.realm;
    const on: event.ChangeContext['on'] = (change, listener) =>
      void this.events.on(change, (emitted) => (emitted.guard === guard ? listener(emitted) : undefined));
    const context: event.ChangeContext = { on, get: (service) => this.moduleRef.get(service as Type) };
    for (const { flags, informs = {} } of this.manifests) {
      if (flags && !flags.some((flag) => options.features[flag])) continue;
      for (const [kind, sources] of Object.entries(informs) as [mailing.ChangeKind, readonly event.ChangeSource[]][]) {
        if (!isMailed(options, kind)) continue;
        for (const source of sources) source(context, (to, isTrue) => this.send(kind, to, isTrue));
      }
    }
  }

  /** See {@link event.InformOwner}. */
  private send(kind: mailing.ChangeKind, ...[to, isTrue = async () => true]: Parameters<event.InformOwner>): void {
    const time = new Date(this.clock.now());
    this.queue.add(kind, async () => {
      if (typeof to === 'object') return this.draftTo(kind, to.user, time);
      // The address may have changed while the mail waited in the queue, and a deleted account gets no mail.
      const id = (await isTrue()) ? await (typeof to === 'string' ? to : to()) : null;
      const user = id === null ? null : await this.users.findById(id);
      return user && this.draftTo(kind, user, time);
    });
  }

  private async draftTo(
    kind: mailing.ChangeKind,
    user: object,
    time: Date,
  ): Promise<mailing.Draft<mailing.ChangeKind> | null> {
    const to = this.users.emailOf(user);
    if (!to) return null;
    return {
      to,
      proof: await this.provedEmails.proofOf(user),
      write: () => this.mails.write(kind, { user, to, time }),
    };
  }
}
