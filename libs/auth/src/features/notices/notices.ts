import { Injectable, type OnModuleInit, Optional, type Type } from '@nestjs/common';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { Clock } from '../../foundation/platform/clock';
import type { NoticeKind } from '../../foundation/ports/mail';
import { Realm } from '../../foundation/realm/realm';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { AccountLockout } from '../../request/lockout/lockout';
import { type LockKey, lockedUserId, LoginLocks } from '../../request/lockout/lockout.store';
import { AccountDeletion } from '../account/account-deletion';
import { PasswordChanged } from '../change-password/change-password';
import { DeviceTrusted } from '../login-challenge/trusted-devices';
import { VerifiedEmails } from '../email-verification/verified-emails';
import type { Draft } from '../mail/mail-gate';
import { MailQueue } from '../mail/mail-queue';
import { AccountMails } from '../mail/mail.feature';
import { PasskeyAdded, PasskeyRemoved } from '../passkeys/passkeys.events';
import { PasswordReset } from '../password-reset/password-reset';
import { RecoveryCodesReplaced, TwoFactorDisabled, TwoFactorEnabled } from '../two-factor/two-factor.events';
import { UsernameChanged } from '../username-change/username-change';

/** Mails the owner of an account about a change. The mail is prepared and sent after the response. */
@Injectable()
export class Notices {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly verifiedEmails: VerifiedEmails,
    private readonly queue: MailQueue,
    private readonly mails: AccountMails,
    private readonly clock: Clock,
    private readonly realm: Realm,
  ) {}

  isSent(kind: NoticeKind): boolean {
    return this.realm.options.mail.notices.includes(kind);
  }

  /**
   * Queues a notice to a user.
   *
   * @param userId the user, or how to find it when the mail is prepared
   * @param isTrue whether the change still holds when the mail is prepared; by default it does
   */
  send(
    kind: NoticeKind,
    userId: string | (() => Promise<string | null>),
    isTrue: () => Promise<boolean> = async () => true,
  ): void {
    const time = new Date(this.clock.now());
    this.queue.add(kind, async () => {
      // The address may have changed while the mail waited in the queue, and a deleted account gets no mail.
      const id = (await isTrue()) ? await (typeof userId === 'string' ? userId : userId()) : null;
      const user = id === null ? null : await this.users.findById(id);
      return user && this.draftTo(kind, user, time);
    });
  }

  /** Queues a notice to a user that is deleted, so it is not read again. */
  sendTo(kind: NoticeKind, user: object): void {
    const time = new Date(this.clock.now());
    this.queue.add(kind, async () => this.draftTo(kind, user, time));
  }

  private async draftTo(kind: NoticeKind, user: object, time: Date): Promise<Draft<NoticeKind> | null> {
    const to = this.users.emailOf(user);
    if (!to) return null;
    return {
      to,
      proof: await this.verifiedEmails.proofOf(user),
      write: () => this.mails.write(kind, { user, to, time }),
    };
  }
}

/**
 * Sends the notices of a realm on the events of the library: after the commit of the change and outside every lock. A notice
 * that is off has no listener.
 */
@Injectable()
export class NoticeEvents implements OnModuleInit {
  constructor(
    private readonly events: AuthEvents,
    private readonly lockout: AccountLockout,
    private readonly locks: LoginLocks,
    private readonly users: TimedUserProvider,
    private readonly notices: Notices,
    private readonly realm: Realm,
    /** Absent without `features.accountDeletion`. */
    @Optional() private readonly deletion?: AccountDeletion,
  ) {}

  onModuleInit(): void {
    const { notices } = this;
    this.on('passwordChanged', PasswordChanged, ({ user }) => this.users.idOf(user));
    this.on('passwordChanged', PasswordReset, ({ user }) => this.users.idOf(user));
    this.on('usernameChanged', UsernameChanged, ({ userId }) => userId);
    // An import moves many users at once, and changes nothing for them.
    this.on('twoFactorEnabled', TwoFactorEnabled, ({ userId, imported }) => (imported ? null : userId));
    this.on('twoFactorDisabled', TwoFactorDisabled, ({ userId }) => userId);
    this.on('recoveryCodesReplaced', RecoveryCodesReplaced, ({ userId }) => userId);
    this.on('passkeyAdded', PasskeyAdded, ({ userId }) => userId);
    this.on('passkeyRemoved', PasskeyRemoved, ({ userId }) => userId);
    this.on('deviceTrusted', DeviceTrusted, ({ userId }) => userId);
    if (notices.isSent('accountLocked')) this.lockout.onLock((key) => this.sendLock(key));
    if (notices.isSent('accountDeleted')) this.deletion?.onDeleted((user) => notices.sendTo('accountDeleted', user));
  }

  /** @param userOf the user to inform; null for none */
  private on<E extends { readonly guard: string }>(
    kind: NoticeKind,
    event: Type<E>,
    userOf: (event: E) => string | null,
  ): void {
    if (!this.notices.isSent(kind)) return;
    this.events.on(event, (emitted) => {
      const userId = emitted.guard === this.realm.guard ? userOf(emitted) : null;
      if (userId !== null) this.notices.send(kind, userId);
    });
  }

  /** A concurrent success may have released the lock. */
  private sendLock(key: LockKey): void {
    const owner = lockedUserId(key) ?? (this.locks.areBySpelling && (() => this.locks.ownerOf(key)));
    if (owner) this.notices.send('accountLocked', owner, async () => (await this.lockout.secondsLocked(key)) > 0);
  }
}
