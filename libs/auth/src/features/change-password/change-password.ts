import { Injectable } from '@nestjs/common';
import { crypto, deadline, errors, event, identity, input, session } from '../../kit';

/**
 * A user changed the password, and all other sessions of the user have ended. A good reason to mail the account's owner.
 *
 * @publicApi
 */
export class PasswordChanged {
  constructor(
    readonly user: object,
    readonly guard: string,
  ) {}
}

const FIELD = 'current_password';

/** A concurrent login may renew the stored hash, and then the change must be repeated. A hash is renewed only once. */
const ATTEMPTS = 3;

/**
 * Changes the password of the caller (`POST /password`). The calling session continues, all others end,
 * at every guard with the same users.
 *
 * The session is judged again before and after the password is stored: the hashes may have waited in the queue, and the end of
 * a session does not wait for the user store, which may be that of the host.
 */
@Injectable()
export class PasswordChange {
  constructor(
    private readonly rules: identity.PasswordRules,
    private readonly currentPassword: session.CurrentPassword,
    private readonly hasher: identity.PasswordHasher,
    private readonly replacement: session.PasswordReplacement,
    private readonly users: identity.TimedUserProvider,
    private readonly confirmations: session.Confirmations,
    private readonly sessions: session.Sessions,
    private readonly standings: identity.AccountStandings,
    private readonly accounts: session.Accounts,
    private readonly events: event.AuthEvents,
  ) {}

  /**
   * @param request the request, which carries the confirmation token for a first password
   * @throws SignInRefused; ValidationFailed before an attempt is made or counted; AccountIsLocked, WrongPassword; ConfirmationRequired for
   * a first password without a confirmation
   */
  async change(
    caller: identity.Caller,
    body: session.ChangePasswordRequest,
    request: session.ConfirmedRequest,
  ): Promise<void> {
    const { user } = caller;
    await this.standings.refuse(caller.userId);
    const names = [this.users.identifierOf(user), this.users.emailOf(user)];
    await this.rules.accept(body, names, body.current_password);
    if (body.current_password === null) await this.setFirst(caller, body, request);
    else await this.replace(caller, body.current_password, body);
    this.events.emit(new PasswordChanged(user, caller.guard));
  }

  /**
   * Sets the password of a user without one. Of two concurrent calls, one succeeds. If the session ends while the password is stored, the hash of
   * a random text that is not stored replaces the password: the user can reset it.
   */
  private async setFirst(
    caller: identity.Caller,
    body: session.ChangePasswordRequest,
    request: session.ConfirmedRequest,
  ): Promise<void> {
    const { userId, familyId } = caller;
    const missing = new errors.ValidationFailed({
      [FIELD]: [{ key: 'validation.required', params: { field: input.named(FIELD) } }],
    });
    if ((await this.users.passwordHashOf(userId)) !== null) throw missing;
    await this.confirmations.require(caller, request);
    const digest = await this.hasher.hash(body.password);
    // Before the password is stored: a full hash queue must not keep a password that has to be replaced.
    const unusable = await this.hasher.hash(crypto.newSecret());
    await this.sessions.requireAlive(caller);
    const isMade = await this.replacement.replace({
      userId,
      digest,
      replacing: null,
      // A session that has ended had no right to the change, so the sessions that began with its password end, too.
      endSessions: async (moment) => {
        const isBound = moment !== undefined && (await this.sessions.isAlive(familyId));
        await this.endOthers(caller, body, digest, isBound ? moment : undefined);
      },
      judge: () => this.sessions.requireAlive(caller),
      // There is no former password to restore. After another error, the new one may be stored.
      undo: async () => {
        if (await this.sessions.isAlive(familyId)) return;
        await this.users.savePasswordHash(userId, unusable, digest);
        // Also those that have begun with the password until now.
        await deadline.repeatWhileUnavailable(() => this.accounts.endOthers(userId, familyId, 'password_change'));
      },
    });
    if (!isMade) throw missing;
  }

  /** Replaces only the hash that was verified: one of several concurrent changes succeeds, and a reset is not undone. */
  private async replace(caller: identity.Caller, current: string, body: session.ChangePasswordRequest): Promise<void> {
    const { userId } = caller;
    let digest: string | undefined;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      // Released at once: a change that fails later, and is repeated, must not count as a failure.
      const former = await this.currentPassword.verify(userId, current, FIELD);
      digest ??= await this.hasher.hash(body.password);
      const renewed = digest;
      await this.sessions.requireAlive(caller);
      const isMade = await this.replacement.replace({
        userId,
        digest: renewed,
        replacing: former,
        endSessions: (moment) => this.endOthers(caller, body, renewed, moment),
        judge: () => this.sessions.requireAlive(caller),
        // A repeated request needs the current password, so the former password is restored.
        undo: () => this.users.savePasswordHash(userId, former, renewed),
      });
      if (isMade) return;
    }
    throw new session.WrongPassword(FIELD);
  }

  /**
   * Ends what belongs to the former password: the other sessions, and the reset links, which are bound to it.
   *
   * @param digest the hash of the new password
   */
  private async endOthers(
    { userId, familyId }: identity.Caller,
    body: session.ChangePasswordRequest,
    digest: string,
    moment?: number,
  ): Promise<void> {
    const removal = this.replacement.forgetFormer({ userId, digest });
    await this.accounts.endOthers(userId, familyId, 'password_change', moment);
    // After the sessions: until then, one of them may have added something.
    for (const [end, services] of this.accounts.hooks('passwordChange')) await end(services, { userId, body });
    await removal;
  }
}

declare module '../sessions/sessions.events' {
  interface SessionEndReasons {
    /** The user changed the password in another session. */
    password_change: true;
  }
}
