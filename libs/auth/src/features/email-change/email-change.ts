import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { Clock, Realm, crypto, errors, event, identity, input, mailing, pg, session } from '../../kit';
import { EmailChangeRequested, EmailChanged } from './email-change.events';
import { linkVerdict } from './email-change.policy';
import { EmailChangeStore, type StoredEmailChange } from './email-change.store';
import { emailChangeText } from './email-change.texts';

/** Statements of one link: another request with it, or a change of the email by the host, makes an attempt stale. */
export const LINK_ATTEMPTS = 6;

/**
 * The token that undoes a change. It is derived, so that a repeated request can mail the same link, although only hashes are
 * stored. Who has the token of the new address can derive it: an undo gives access to the former address only.
 */
const undoTokenOf = (token: string): string => crypto.sha256(`undo:${token}`);

/** Stores requests for a change of email, and mails the links (`POST /email/change`). */
@Injectable()
export class EmailChangeRequests {
  constructor(
    private readonly users: identity.TimedUserProvider,
    private readonly changes: EmailChangeStore,
    private readonly accounts: session.Accounts,
    private readonly provedEmails: identity.ProvedEmails,
    private readonly queue: mailing.MailQueue,
    private readonly mails: mailing.AccountMails,
    private readonly existingAccountMails: mailing.ExistingAccountMails,
    private readonly events: event.AuthEvents,
    private readonly realm: Realm,
  ) {}

  /**
   * Stores the request, without a look-up of the new address. Everything else happens after the response. So the response does
   * not show whether the address has an account.
   *
   * @throws Unauthenticated if the session has ended; SignInRefused, StoreUnavailable
   */
  async request(caller: identity.Caller, email: string): Promise<void> {
    const { user, userId, familyId: sessionId } = caller;
    const [id, token, to] = [randomUUID(), crypto.newSecret(), identity.canonicalEmail(email)];
    const fingerprint = identity.fingerprintFor(id, await this.users.passwordHashOf(userId));
    const from = this.users.emailOf(user);
    const wasVerified = !(await this.provedEmails.isMissing(user));
    const request = { id, userId, sessionId, from, wasVerified, to, confirmHash: crypto.sha256(token), fingerprint };
    await this.accounts.exclusiveForSession(caller, (sql) => this.changes.request(sql, request));
    this.events.emit(new EmailChangeRequested(userId, this.realm.guard));
    this.queue.add('emailChange', () => this.draftFor(to, userId, token));
  }

  /** An address with an account gets no link. Its owner gets a mail without one, unless it is the user's own address. */
  private async draftFor(to: string, userId: string, token: string): Promise<mailing.Draft<'emailChange'> | null> {
    // The account may be deleted while the mail waits in the queue.
    const user = await this.users.findById(userId);
    if (!user) return null;
    const { account, takenBy } = await this.users.lookUpEmail(to);
    if (account && takenBy !== userId) this.existingAccountMails.send(account.user);
    if (takenBy !== null) return null;
    const { confirmUrl, expireMinutes: minutes } = this.realm.options.emailChange;
    const parts = { secret: token, email: to, guard: this.realm.guard };
    const url = mailing.mailedLink(confirmUrl!, parts, (page) => mailing.withQuery(page, { token }));
    return { to, write: () => this.mails.write('emailChange', { user, to, url, minutes }) };
  }
}

/** Replaces the email of a user and records a step of its change: both or neither. */
@Injectable()
export class EmailReplacements {
  constructor(
    private readonly users: identity.TimedUserProvider,
    private readonly accounts: session.Accounts,
    private readonly database: pg.Database,
    private readonly clock: Clock,
    private readonly realm: Realm,
  ) {}

  /**
   * The order of the locks is that of every transaction: the user, its sessions, its other rows.
   *
   * @param record records the step; false if it is not possible any more
   */
  async replace(
    userId: string,
    change: identity.Replacing,
    record: (sql: pg.Sql) => Promise<boolean>,
  ): Promise<identity.ReplacementResult> {
    const [rollback, verifiedAt] = [new Error('rolled back'), new Date(this.clock.now())];
    let result: identity.ReplacementResult = 'stale';
    const work = this.accounts.exclusive(
      userId,
      async (sql, manager) => {
        result = await this.users.changeEmail(userId, { ...change, verifiedAt }, manager);
        if (result === 'changed' && !(await record(sql))) result = 'stale';
        if (result !== 'changed') throw rollback;
      },
      this.callsHost,
    );
    await work.catch((error) => {
      if (pg.isUnstorable(error)) throw new EmailChangeFailed();
      if (error !== rollback) throw error;
    });
    return result;
  }

  /** Ends what was mailed for the account, at all guards of the source. @param kept what is bound to the address that is stored now */
  async endLinks(userId: string, kept?: session.KeptLinks): Promise<void> {
    for (const [end, services] of this.accounts.hooks('emailReplaced')) await end(services, userId, kept);
  }

  /** Whether the transaction runs code of the host, which must not run twice. */
  private get callsHost(): boolean {
    const { users } = this.realm.options;
    return !!users?.provider || !users?.entity || this.database.callsHost(users.entity);
  }
}

/** Changes the email with the token that was mailed to the new address (`POST /email/change/confirm`). */
@Injectable()
export class EmailChangeConfirmation {
  constructor(
    private readonly users: identity.TimedUserProvider,
    private readonly changes: EmailChangeStore,
    private readonly replacements: EmailReplacements,
    private readonly sessions: session.Sessions,
    private readonly standings: identity.AccountStandings,
    private readonly accounts: session.Accounts,
    private readonly requestSessions: session.RequestSessions,
    private readonly provedEmails: identity.ProvedEmails,
    private readonly queue: mailing.MailQueue,
    private readonly mails: mailing.AccountMails,
    private readonly events: event.AuthEvents,
    private readonly realm: Realm,
  ) {}

  /**
   * A link that is opened again succeeds without a further effect.
   *
   * @param request its session proves a person, if no person has proved the former address
   * @throws EmailChangeFailed, with the same body for every reason; NewEmailTaken; TooManyRequests if the former address could not get the mail with the link that undoes the change; StoreUnavailable: the
   * request can be repeated
   */
  async confirm(token: string, request: object): Promise<void> {
    const hash = crypto.sha256(token);
    for (let attempt = 0; attempt < LINK_ATTEMPTS; attempt++) {
      const found = await this.changes.find('confirm', hash);
      const verdict = linkVerdict('confirm', found && { ...found, isRevoked: await this.isRevoked(found) });
      if (!found || verdict === 'refuse') break;
      if (verdict === 'done') return;
      if (verdict === 'resume') return this.finish(found, undoTokenOf(token));
      // Then the change is judged again, also if another request was faster.
      await this.change(found, undoTokenOf(token), request);
    }
    throw new EmailChangeFailed();
  }

  /** A logout, an end of all sessions, and every change of the password end the request. So does `hooks.canSignIn`, while it refuses. */
  private async isRevoked({ id, userId, sessionId, fingerprint }: StoredEmailChange): Promise<boolean> {
    const isAlive = await this.sessions.isAlive(sessionId);
    if ((await this.standings.of(userId, true)) === 'refused') return true;
    return !isAlive || identity.fingerprintFor(id, await this.users.passwordHashOf(userId)) !== fingerprint;
  }

  /** @throws NewEmailTaken; TooManyRequests before anything has changed */
  private async change(
    { id, userId, sessionId, from, wasVerified, to }: StoredEmailChange,
    undoToken: string,
    request: object,
  ): Promise<void> {
    const user = await this.users.findById(userId);
    if (!user) return;
    // A user store without transactions has the new email already, after a request that failed later.
    const isStored = this.users.emailOf(user) === to;
    // An address that was never verified may belong to another person, who must not get access to the account.
    const isVerified = isStored ? wasVerified : !(await this.provedEmails.isMissing(user));
    const undo = from !== null && isVerified ? { hash: crypto.sha256(undoToken), email: from } : null;
    const current = isStored ? to : from;
    // The user has asked for the change. A user of whom no person was known stays one, unless a session confirms the change.
    const isProved =
      (await this.provedEmails.wasProved(userId, from, isVerified)) ||
      (await this.requestSessions.ownerOf(request)) === userId;
    const record = async (sql: pg.Sql): Promise<boolean> => {
      if (!(await this.sessions.isAlive(sessionId, sql)) || !(await this.changes.confirm(sql, id, undo))) return false;
      await this.provedEmails.recordChange(sql, userId, to, isProved);
      return true;
    };
    const replace = (): Promise<identity.ReplacementResult> =>
      this.replacements.replace(userId, { from: current, to }, record);
    const isMade = (result: identity.ReplacementResult): boolean => result === 'changed';
    // Without its mail, the owner of the former address could not undo the change.
    const result = await (undo ? this.queue.withReserved('emailChanged', undo.email, replace, isMade) : replace());
    if (result === 'taken') throw new NewEmailTaken();
  }

  /** Ends what is bound to the former address. A link that verifies it ends by itself. Can be repeated after a failure. */
  private async finish(found: StoredEmailChange, undoToken: string): Promise<void> {
    const { id, userId, sessionId, from, to } = found;
    if (from !== null) this.queue.add('emailChanged', () => this.draftFor(from, found, undoToken));
    await this.accounts.endOthers(userId, sessionId, 'email_change');
    await this.replacements.endLinks(userId);
    if (await this.changes.advance('settle', id))
      this.events.emit(new EmailChanged(userId, this.realm.guard, from, to));
  }

  /** Reads the user again, because the account may be deleted while the mail waits in the queue. */
  private async draftFor(
    former: string,
    { id, userId, to, isUndoable, confirmedAt }: StoredEmailChange,
    token: string,
  ): Promise<mailing.Draft<'emailChanged'> | null> {
    const user = await this.users.findById(userId);
    if (!user) return null;
    const { undoUrl, undoDays: days } = this.realm.options.emailChange;
    const parts = { secret: token, email: former, guard: this.realm.guard };
    const link = (): string => mailing.mailedLink(undoUrl!, parts, (page) => mailing.withQuery(page, { token }));
    const url = isUndoable ? link() : null;
    const mail = { user, to: former, time: confirmedAt!, newEmail: to, url, days };
    return {
      to: former,
      proof: isUndoable ? 'person' : 'none',
      ...(isUndoable && { isReserved: true }),
      // Of several requests with one link, each may queue the mail, because it may be lost with the process of the first one.
      once: id,
      write: () => this.mails.write('emailChanged', mail),
    };
  }
}

/** Body of `POST /email/change`. */
export class EmailChangeBody {
  @input.RequiredEmail()
  email!: string;
}

/** Body of `POST /email/change/confirm` and of `POST /email/change/undo`: the parameter of the mailed link. */
export class EmailChangeLink {
  @input.RequiredText()
  token!: string;
}

/**
 * The link is unknown, has expired, was replaced by a newer request or was revoked: 422, with the same body for every reason.
 */
export class EmailChangeFailed extends errors.AuthException {
  constructor() {
    super('email_change_failed', { status: 422, errors: { token: [emailChangeText('auth.email_change_failed')] } });
  }
}

/**
 * Another account has got the new email since the request: 409. Nothing has changed, and the link stays valid. The token shows that
 * the client reads the mails of the address, so it may know of the account.
 */
export class NewEmailTaken extends errors.AuthException {
  constructor() {
    super('new_email_taken', { status: 409, text: emailChangeText('auth.new_email_taken') });
  }
}
