import { Inject, Injectable } from '@nestjs/common';
import {
  Clock,
  Realm,
  RealmScope,
  Realms,
  deadline,
  errors,
  event,
  http,
  identity,
  locking,
  pg,
  session,
  settings,
} from '../../kit';
import { NotApplicable, OperatorProtected, UserNotFound, unusableField } from './operators.errors';
import { type OperatorAction, OperatorActed } from './operators.events';
import { operatorsText } from './operators.texts';
import { endOfSuspension, isOperator, targetVerdict } from './operators.policy';
import { Suspensions, usersOf } from './suspension';
import type { AuditActor } from './trail/audit.policy';
import type { AuditEntry } from './trail/audit.store';
import { AuditTrail, actingAs } from './trail/audit-trail';

/** Which part of the account an action concerns. */
interface ActedPart {
  readonly sessionId?: string | null;
  readonly detail?: string;
}

/** Who acts on which account, and why. */
export interface OperatorAct {
  readonly userId: string;
  readonly reason: string;
  /** The operator; null for the console and for code of the host. */
  readonly operator: Pick<identity.Caller, 'guard' | 'userId' | 'familyId'> | null;
}

/** What operators, the console and code of the host do to accounts of one guard. Each action needs a reason. */
@Injectable()
export class OperatorActions {
  constructor(
    private readonly accounts: session.Accounts,
    private readonly sessions: session.SessionList,
    private readonly passwords: session.PasswordReplacement,
    private readonly suspensions: Suspensions,
    private readonly locks: locking.AccountLocks,
    private readonly users: identity.TimedUserProvider,
    private readonly events: event.AuthEvents,
    private readonly scope: RealmScope,
    private readonly realms: Realms,
    private readonly clock: Clock,
    @Inject(settings.AUTH_CONFIG) private readonly config: settings.AuthConfig,
  ) {}

  /** Ends one session of this guard, or all sessions of the account at every guard. @throws SessionNotFound */
  endSessions({ userId, ...act }: OperatorAct, sessionId: string | null): Promise<void> {
    return this.change('end_sessions', { ...act, userId, sessionId }, () =>
      sessionId === null ? this.accounts.endAll(userId, 'operator') : this.sessions.end(userId, sessionId, 'operator'),
    );
  }

  /** Releases the locks and the limits of the account. */
  release(act: OperatorAct): Promise<void> {
    return this.change('release', act, (user) => this.locks.release(act.userId, this.users.emailOf(user)));
  }

  /**
   * Removes a credential, also a required one, and the last one.
   *
   * @throws ValidationFailed if no feature removes this kind; NotApplicable if the user has no such credential
   */
  async removeCredential(act: OperatorAct, kind: string, id: string): Promise<void> {
    const { removableKinds: kinds } = this.accounts;
    if (!kinds.includes(kind))
      throw new errors.ValidationFailed({ kind: [operatorsText('auth.credential_kind', { kinds: kinds.join(', ') })] });
    const detail = [kind, id].filter(Boolean).join(':');
    return this.change('remove_credential', { ...act, detail }, async () => {
      const isRemoved = await this.accounts.removeCredential(kind, { userId: act.userId, id });
      if (!isRemoved) throw new NotApplicable('nothing_to_remove');
    });
  }

  /** See `PasswordReplacement.requireNew`. @throws NotApplicable for a user without a password or without a link */
  requirePassword(act: OperatorAct): Promise<void> {
    return this.change('require_password', act, async () => {
      if (!(await this.passwords.requireNew(act.userId, 'operator'))) throw new NotApplicable('no_password');
    });
  }

  /**
   * Suspends a user: no session starts or is refreshed, and those that exist end. Access keys are refused while it lasts. Can be
   * repeated, to change the reason or the end.
   *
   * @param until ISO 8601; null for a suspension without an end
   * @throws ValidationFailed for another text
   */
  async suspend(act: OperatorAct, until: string | null): Promise<void> {
    const endsAt = endOfSuspension(until, new Date(this.clock.now()));
    if (endsAt === undefined) throw unusableField('until');
    await this.commit('suspend', act, (sql) => this.suspensions.add(sql, act.userId, act.reason, endsAt));
    // A session that starts from now on is refused, and the others end here, also if the client goes away.
    const end = (): Promise<void> => this.accounts.endAll(act.userId, 'suspended');
    await this.inNameOf(act, () => deadline.repeatWhileUnavailable(end, ENDS));
  }

  /** @throws NotApplicable for a user who is not suspended */
  restore(act: OperatorAct): Promise<void> {
    return this.commit('restore', act, async (sql) => {
      if (!(await this.suspensions.remove(sql, act.userId))) throw new NotApplicable('not_suspended');
    });
  }

  /**
   * The user of an action, if the action may concern it.
   *
   * @throws UserNotFound, OperatorProtected; AuthConfigError where no guard has operators for the users of this one
   */
  async requireTarget({ userId, operator }: OperatorAct): Promise<object> {
    if (!this.suspensions.operatorGuards().length)
      throw new errors.AuthConfigError(`No guard has features.operators for the users of the guard "${this.guard}".`);
    const user = await this.users.findById(userId);
    if (!user) throw new UserNotFound();
    if (operator === null) return user;
    const isSelf = operator.userId === userId && this.scope.realm.source.names.includes(operator.guard);
    const verdict = targetVerdict(isSelf, await this.isOperator(userId));
    if (verdict !== 'allowed') throw new OperatorProtected(verdict);
    return user;
  }

  /**
   * Makes a change that is not one transaction. Its line is written first, so that no change is without one; if the change
   * fails, another line says so, when PostgreSQL can be reached.
   */
  async recorded<T>(action: OperatorAction, act: OperatorAct & ActedPart, change: () => Promise<T>): Promise<T> {
    try {
      await this.trail?.recordNow(entryOf(action, act));
      const result = await this.inNameOf(act, change);
      this.announce(action, act);
      return result;
    } catch (error) {
      // Also if the statement of the line had no answer: the line may be stored.
      this.trail?.recordLater(entryOf(action, act, 'failed'));
      throw error;
    }
  }

  private async change(
    action: OperatorAction,
    act: OperatorAct & ActedPart,
    change: (user: object) => Promise<void>,
  ): Promise<void> {
    const user = await this.requireTarget(act);
    await this.recorded(action, act, () => change(user));
  }

  private inNameOf<T>(act: OperatorAct, work: () => Promise<T>): Promise<T> {
    return this.trail ? actingAs(actorOf(act), work) : work();
  }

  /** Makes a change in one transaction with its line. */
  private async commit(
    action: OperatorAction,
    act: OperatorAct,
    change: (sql: pg.Sql) => Promise<void>,
  ): Promise<void> {
    await this.requireTarget(act);
    await this.accounts.exclusive(act.userId, async (sql) => {
      await change(sql);
      await this.trail?.record(sql, entryOf(action, act));
    });
    this.announce(action, act);
  }

  private announce(action: OperatorAction, { userId, reason, operator }: OperatorAct): void {
    const by = operator && { guard: operator.guard, userId: operator.userId };
    this.events.emit(new OperatorActed(this.guard, userId, action, by, reason));
  }

  private get guard(): string {
    return this.scope.realm.guard;
  }

  /** Null where the guard has no `features.audit`. */
  private get trail(): AuditTrail | null {
    return this.scope.has(AuditTrail) ? this.scope.get(AuditTrail) : null;
  }

  /** Whether the user has the abilities of an operator, at a guard of operators with the same users. */
  private async isOperator(userId: string): Promise<boolean> {
    for (const guard of this.config.guards.filter(({ features }) => features.operators)) {
      if (!this.scope.realm.source.names.includes(guard.guard)) continue;
      const { scope } = await this.realms.get(guard.guard).get(http.AbilityResolver).resolve(null, userId, '');
      if (isOperator(identity.Grant.ofScope(scope))) return true;
    }
    return false;
  }
}

const actorOf = ({ operator }: OperatorAct): AuditActor =>
  operator ? { kind: 'operator', guard: operator.guard, id: operator.userId } : { kind: 'console' };

function entryOf(action: OperatorAction, act: OperatorAct & ActedPart, outcome?: event.Outcome): AuditEntry {
  const { userId, reason: text, sessionId, detail } = act;
  const reason = detail ? event.printable(`${action} ${detail}`).slice(0, LONGEST_DETAIL) : action;
  return { userId, operation: 'auth.operator.acted', outcome, reason, actor: actorOf(act), sessionId, text };
}

/** Longest text of an action with its detail, which is the text of a request. */
const LONGEST_DETAIL = 200;

/** How often the end of the sessions of a suspended user is tried again. */
const ENDS = 3;

/** The services of the guard whose users the operators of a guard help. */
export const operatedBy = (realms: Realms, realm: Realm, config: settings.AuthConfig) =>
  realms.get(usersOf(realm.options, config));
