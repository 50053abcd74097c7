import { Injectable } from '@nestjs/common';
import { Realm, errors, event, identity, input, session } from '../../kit';
import { reportVerdict } from './known-device.policy';
import { KnownDeviceStore } from './known-device.store';
import { knownDeviceText } from './known-devices.texts';

/**
 * The owner of an account did not know a sign-in, and used the link in the mail about it. All sessions of the user have
 * ended, and no device is known any more.
 *
 * @publicApi
 */
export class SignInReported {
  constructor(
    readonly userId: string,
    /** The session of that sign-in. */
    readonly familyId: string,
    readonly guard: string,
  ) {}
}

declare module '../../foundation/platform/catalogue' {
  interface SecurityEvents {
    'auth.sign_in.reported': SignInReported;
  }
}

export const SIGN_IN_REPORT_EVENTS: event.LoggedEvents = {
  'auth.sign_in.reported': { event: SignInReported, severity: 'warning', details: event.ofSession },
};

/** The link in a mail about a sign-in is not valid, or has expired: 422. Nothing has ended. */
export class ReportFailed extends errors.AuthException {
  constructor() {
    super('report_failed', { status: 422, errors: { token: [knownDeviceText('auth.report_failed')] } });
  }
}

/** Body of `POST /sessions/report`. */
export class SignInReportBody {
  @input.RequiredText()
  token!: string;
}

/**
 * Ends all sessions of a user who does not know a sign-in, with the token that was mailed (`POST /sessions/report`), at every
 * guard with the same users. Another person may know the password, so the owner gets a link to choose a new one.
 */
@Injectable()
export class SignInReports {
  constructor(
    private readonly devices: KnownDeviceStore,
    private readonly accounts: session.Accounts,
    private readonly users: identity.TimedUserProvider,
    private readonly events: event.AuthEvents,
    private readonly realm: Realm,
    private readonly passwords: session.PasswordReplacement,
  ) {}

  /**
   * A link that is opened again succeeds without a further effect. The report is recorded last: after a failure, the
   * request can be repeated.
   *
   * @throws ReportFailed for an invalid or expired link; StoreUnavailable
   */
  async report(token: string): Promise<void> {
    const found = await this.devices.find(token);
    const verdict = reportVerdict(found);
    if (!found || verdict === 'refuse') throw new ReportFailed();
    if (verdict === 'done') return;
    const { id, userId, familyId } = found;
    // Other devices may be those of the same person, and the next sign-in on each has to mail. Before the sessions end: a
    // sign-in in between is one on a new device, and its session ends.
    for (const devices of this.accounts.services(KnownDeviceStore)) await devices.forgetAll(userId);
    // The person who signed in has the password, and may have signed in again.
    await this.accounts.endAll(userId, 'reported');
    // The pause between two reset links also applies to concurrent requests.
    // None is mailed while no feature does, but earlier reports still end sessions.
    const account = await this.users.mailedUser(userId);
    if (account) await this.passwords.mailLink(account.email);
    if (await this.devices.close(id)) this.events.emit(new SignInReported(userId, familyId, this.realm.guard));
  }
}

declare module '../sessions/sessions.events' {
  interface SessionEndReasons {
    /** Its user did not know the sign-in, and used the link in the mail about it. */
    reported: true;
  }
}
