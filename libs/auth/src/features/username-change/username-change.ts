import { Injectable } from '@nestjs/common';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { Unauthenticated } from '../../foundation/platform/errors';
import type { Mail } from '../../foundation/ports/mail';
import { Realm } from '../../foundation/realm/realm';
import type { Caller } from '../../identity/tokens/caller';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';
import { RequiredText, UsernameField } from '../../request/http/request-body';
import { MailQueue } from '../mail/mail-queue';
import { AccountMails } from '../mail/mail.feature';
import { IdentifierTaken, RegistrationForm } from '../registration/registration-form';

/**
 * The identifier of a user, which is not the email, was changed.
 *
 * @publicApi
 */
export class UsernameChanged {
  constructor(
    readonly userId: string,
    readonly guard: string,
    /** The former identifier; null for a user without one. */
    readonly from: string | null,
    readonly to: string,
  ) {}
}

/** A concurrent change by the same user makes an attempt stale. */
const ATTEMPTS = 3;

/** Changes the identifier of the caller, where it is not the email (`POST /username`). Sessions stay. */
@Injectable()
export class UsernameChange {
  constructor(
    private readonly form: RegistrationForm,
    private readonly users: TimedUserProvider,
    private readonly queue: MailQueue,
    private readonly mails: AccountMails,
    private readonly events: AuthEvents,
    private readonly realm: Realm,
  ) {}

  /**
   * @param request the request, whose body the rules of the registration apply to
   * @throws ValidationFailed; IdentifierTaken, also for the present identifier of the user: usernames are public, so it shows
   * that one exists; Unauthenticated if the user does not exist any more
   */
  async change({ userId }: Caller, request: { body?: unknown }): Promise<void> {
    const { guard, options } = this.realm;
    const to = await this.form.readIdentifier(request);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const user = await this.users.findById(userId);
      if (!user) throw new Unauthenticated(true).withReason('unknown_user', userId);
      const from = this.users.identifierOf(user);
      const result = from === to ? 'taken' : await this.users.changeIdentifier(userId, { from, to });
      if (result === 'taken') break;
      if (result === 'stale') continue;
      this.events.emit(new UsernameChanged(userId, guard, from, to));
      this.queue.add('usernameChanged', () => this.mailTo(userId));
      return;
    }
    throw new IdentifierTaken(options.username);
  }

  /** Reads the user again, because the account may be deleted while the mail waits in the queue. */
  private async mailTo(userId: string): Promise<Mail | null> {
    const user = await this.users.findById(userId);
    const to = user && this.users.emailOf(user);
    return user && to ? this.mails.write('usernameChanged', { user, to }) : null;
  }
}

/** Body of `POST /username`: the identifier, under the name of the option `username`. */
export class UsernameChangeBody {
  @UsernameField()
  @RequiredText()
  identifier!: string;
}
