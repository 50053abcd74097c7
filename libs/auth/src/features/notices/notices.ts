import { Inject, Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { Clock } from '../../foundation/platform/clock';
import type { ChangeKind } from '../../foundation/ports/mail';
import { type Feature, MANIFESTS } from '../../foundation/realm/feature';
import type { ChangeContext, ChangeSource, InformOwner } from '../../foundation/realm/informing';
import { Realm } from '../../foundation/realm/realm';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { ProvedEmails } from '../../identity/users/proved-emails';
import type { Draft } from '../mail/mail-gate';
import { MailQueue } from '../mail/mail-queue';
import { AccountMails } from '../mail/account-mails';
import { isMailed } from './notices.options';

/** Mails the owner of an account about a change. The mail is prepared and sent after the response. */
@Injectable()
export class Notices {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly provedEmails: ProvedEmails,
    private readonly queue: MailQueue,
    private readonly mails: AccountMails,
    private readonly clock: Clock,
  ) {}

  /** See {@link InformOwner}. */
  send(kind: ChangeKind, ...[to, isTrue = async () => true]: Parameters<InformOwner>): void {
    const time = new Date(this.clock.now());
    this.queue.add(kind, async () => {
      if (typeof to === 'object') return this.draftTo(kind, to.user, time);
      // The address may have changed while the mail waited in the queue, and a deleted account gets no mail.
      const id = (await isTrue()) ? await (typeof to === 'string' ? to : to()) : null;
      const user = id === null ? null : await this.users.findById(id);
      return user && this.draftTo(kind, user, time);
    });
  }

  private async draftTo(kind: ChangeKind, user: object, time: Date): Promise<Draft<ChangeKind> | null> {
    const to = this.users.emailOf(user);
    if (!to) return null;
    return {
      to,
      proof: await this.provedEmails.proofOf(user),
      write: () => this.mails.write(kind, { user, to, time }),
    };
  }
}

/**
 * Sends the notices of a realm on the events of the library: after the commit of the change and outside every lock. A notice
 * that is off has no listener, nor has one of a feature that is off.
 */
@Injectable()
export class NoticeEvents implements OnModuleInit {
  constructor(
    private readonly events: AuthEvents,
    private readonly notices: Notices,
    private readonly realm: Realm,
    private readonly moduleRef: ModuleRef,
    @Inject(MANIFESTS) private readonly manifests: readonly Feature[],
  ) {}

  onModuleInit(): void {
    const { guard, options } = this.realm;
    const on: ChangeContext['on'] = (event, listener) =>
      void this.events.on(event, (emitted) => (emitted.guard === guard ? listener(emitted) : undefined));
    const context: ChangeContext = { on, get: (service) => this.moduleRef.get(service as Type) };
    for (const { flags, informs = {} } of this.manifests) {
      if (flags && !flags.some((flag) => options.features[flag])) continue;
      for (const [kind, sources] of Object.entries(informs) as [ChangeKind, readonly ChangeSource[]][]) {
        if (!isMailed(options, kind)) continue;
        for (const source of sources) source(context, (to, isTrue) => this.notices.send(kind, to, isTrue));
      }
    }
  }
}
