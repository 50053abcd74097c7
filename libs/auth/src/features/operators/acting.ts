import { type ExecutionContext, Injectable, type OnModuleInit, createParamDecorator } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { Clock, Realm, Realms, deadline, errors, event, http, identity, pg, session } from '../../kit';
import { type OperatorAct, OperatorActions } from './operator-actions';
import { ActorRefused, NotApplicable, unusableField } from './operators.errors';
import { mayAct } from './operators.policy';
import { operatorsText } from './operators.texts';
import { Suspensions } from './suspension';
import { actingAs } from './trail/audit-trail';

/** Who acts as the user of a request (RFC 8693 §4.1). */
export interface ActingOperator {
  readonly userId: string;
  /** The guard of the operator. */
  readonly guard: string;
}

/** The tokens with which an operator acts as a user. There is no refresh token. */
export interface ActingToken {
  readonly access_token: string;
  readonly token_type: session.TokenType;
  /** Seconds the access token lives. */
  readonly expires_in: number;
}

/** Lets an operator act as a user of one guard. */
@Injectable()
export class Acting implements OnModuleInit {
  constructor(
    private readonly actions: OperatorActions,
    private readonly signIn: session.SignIn,
    private readonly standings: identity.AccountStandings,
    private readonly abilities: http.AbilityResolver,
    private readonly sessions: session.Sessions,
    private readonly suspensions: Suspensions,
    private readonly database: pg.Database,
    private readonly events: event.AuthEvents,
    private readonly realm: Realm,
    private readonly realms: Realms,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.events.on(session.SessionEnded, ({ guard, familyId }) =>
      this.suspensions.operatorGuards().includes(guard)
        ? deadline.bestEffort('ending sessions of an operator', () => this.endOf(familyId))
        : undefined,
    );
  }

  /**
   * Starts a session without a refresh and with a fixed list of abilities, which ends with that of the operator.
   *
   * @param abilities of the token
   * @param asked at most `accessTtl`, which is the default
   * @param sender the request of the operator: its key is that of the session
   * @throws ValidationFailed, NotApplicable for a user who may not sign in, Unauthenticated without a session of the operator
   */
  async start(
    act: OperatorAct & { operator: object },
    abilities: readonly string[],
    asked: number | null,
    sender: object,
  ): Promise<ActingToken> {
    const { userId, operator } = act;
    const { accessTtl } = this.realm.options;
    const { operators } = this.realms.get(operator.guard).realm.options;
    const seconds = asked ?? accessTtl;
    if (!(Number.isInteger(seconds) && seconds >= 1 && seconds <= accessTtl)) throw unusableField('seconds');
    await this.actions.requireTarget(act);
    if (operator.familyId === null) throw new errors.Unauthenticated(true).withReason('invalid_token', operator.userId);
    const { scope } = await this.abilities.resolve(null, userId, randomUUID());
    const ofUser = scope === undefined ? null : identity.Grant.ofScope(scope);
    if (!mayAct(abilities, operators.abilities, ofUser))
      throw new errors.ValidationFailed({ abilities: [operatorsText('auth.acting_abilities')] });
    if (await this.standings.isRefused(userId)) throw new NotApplicable('cannot_act');
    const left = await this.secondsLeft(operator.guard, operator.familyId);
    const id = `${session.ACTING}${operator.guard}:${operator.userId}`;
    const start = {
      userId,
      claims: { act: { sub: operator.userId, guard: operator.guard } },
      accessOnly: Math.min(seconds, left),
      label: operators.label,
      origin: { id, session: operator.familyId, since: new Date(this.clock.now()).getTime(), person: '' },
      sender,
      abilities,
    };
    const refused = (error: unknown): boolean => error instanceof identity.SignInRefused;
    const tokens = await this.actions.recorded('act', act, async () => {
      const started = await this.signIn.startForHost(start).catch(deadline.valueIf(refused, null));
      if (!started) throw new NotApplicable('cannot_act');
      return started;
    });
    return { access_token: tokens.accessToken, token_type: tokens.tokenType, expires_in: tokens.expiresIn };
  }

  /** The hook `originCurrent`: the end of the operator's session ends this one afterwards, or is seen here. */
  async isCurrent({ id, session: familyId }: session.SignInOrigin): Promise<boolean> {
    if (!id.startsWith(session.ACTING)) return true;
    const guards = this.suspensions.operatorGuards().map((name) => this.realms.get(name).get(session.Sessions));
    const alive = await Promise.all(guards.map((sessions) => sessions.isAlive(familyId ?? null)));
    return !alive.includes(false);
  }

  /** Ends the sessions that a session of an operator has started. */
  private async endOf(familyId: string): Promise<void> {
    const started = await this.database.query<{ id: string }>(
      `SELECT id FROM ${this.database.table(session.Session)}
        WHERE guard = $1 AND origin_session = $2 AND origin LIKE '${session.ACTING}%' AND revoked_at IS NULL`,
      [this.realm.guard, familyId],
    );
    await actingAs({ kind: 'system' }, async () => {
      for (const { id } of started) await this.sessions.end(id, 'revoked');
    });
  }

  /** Seconds until the session of an operator is over if it is not used any more. @throws Unauthenticated */
  private async secondsLeft(guard: string, familyId: string): Promise<number> {
    if (!pg.isUuid(familyId)) return Infinity;
    const own = await this.realms.get(guard).get(session.SessionStore).find(familyId);
    const left = own && Math.min(own.expiresAt, own.lastUsedAt + (own.idleTimeout ?? Infinity)) - own.now;
    if (!left || left < 1) throw new errors.Unauthenticated(true);
    return Math.floor(left);
  }
}

/** The operator in the claims of an access token; null for the user. */
function actorIn({ claims }: identity.Caller): ActingOperator | null {
  const { sub, guard } = Object(claims.act) as Partial<Record<'sub' | 'guard', unknown>>;
  return typeof sub === 'string' ? { userId: sub, guard: String(guard) } : null;
}

/**
 * Injects the operator who acts as the user of the request, an {@link ActingOperator}; null if the user makes it.
 *
 * @example empty(\@CurrentUser() user: User, \@Actor() actor: ActingOperator | null) {}
 * @publicApi
 */
export const Actor = createParamDecorator((_: unknown, context: ExecutionContext): ActingOperator | null => {
  const caller = identity.callerOf(http.requestOf(context) ?? {});
  return caller ? actorIn(caller) : null;
});

/** Refuses a request that an operator makes as the user. */
@Injectable()
export class ActorGate implements http.Gate {
  static readonly stage = 'ability';
  static readonly refusals = (): errors.AuthException[] => [new ActorRefused()];

  constructor(private readonly realm: Realm) {}

  check(_context: ExecutionContext, request: object): void {
    if (actorIn(identity.callerAt(request, this.realm.guard))) throw new ActorRefused();
  }
}

/**
 * Requires a valid access token, and refuses the one with which an operator acts as the user: 403.
 *
 * @publicApi
 */
export const RefuseActor = (): ClassDecorator & MethodDecorator => http.requires(http.AuthenticationGate, ActorGate);
