import { Controller, Inject, Param, Req } from '@nestjs/common';
import {
  Realm,
  Realms,
  deadline,
  http,
  type identity,
  input,
  type locking,
  pg,
  schema,
  session,
  settings,
} from '../../kit';
import { Acting, type ActingToken } from './acting';
import { type OperatorAct, OperatorActions, operatedBy } from './operator-actions';
import { type FoundUser, type OperatedAccount, OperatorView } from './operator-view';
import { NotApplicable, OperatorProtected, UserNotFound, unusableField } from './operators.errors';
import { OPERATOR_ABILITIES } from './operators.policy';
import type { ExportedSuspension, ShownSuspension } from './suspension';
import { AuditTrail } from './trail/audit-trail';
import type { HistoryQuery } from './trail/audit.policy';
import type { AuditedLine, HistoryPage } from './trail/audit.store';
import { type AskedHistory, HISTORY_PARAMETERS, OPERATORS_HISTORY, historyQuery } from './trail/history.controller';

/** Body of `POST /operators/find`. */
export class FindUserRequest {
  /** An identifier, or an email. */
  @input.RequiredText()
  identifier!: string;
}

/** The body of an action. */
export class ActionRequest {
  /** Why, for the history of the account. */
  @input.RequiredText()
  reason!: string;
}

/** Body of `POST /operators/users/:id/end-sessions`. */
export class EndSessionsRequest extends ActionRequest {
  /** The id of one session. */
  @input.OptionalText()
  session: string | null = null;

  /** Whether all sessions end, in place of one. */
  @input.OptionalFlag()
  all: boolean | null = null;
}

/** Body of `POST /operators/users/:id/remove-credential`. */
export class RemovalRequest extends ActionRequest {
  /** A member of `credentials` in the answer of `GET /operators/users/:id`. */
  @input.RequiredText()
  kind!: string;

  /** Its id there; omitted for `two_factor`. */
  @input.OptionalText()
  credential: string | null = null;
}

/** Body of `POST /operators/users/:id/suspend`. */
export class SuspendRequest extends ActionRequest {
  /** When the suspension ends, ISO 8601 with a time zone; without it, when an operator restores the user. */
  @input.OptionalTime()
  until: string | null = null;
}

/** Body of `POST /operators/users/:id/act`. */
export class ActRequest extends ActionRequest {
  @input.OptionalList()
  abilities: unknown[] | null = null;

  @input.OptionalNumber()
  seconds: number | null = null;
}

const USER: schema.Schema = schema.namedSchema(
  'AuthOperatedUser',
  schema.record<FoundUser>({
    id: schema.of(schema.TEXT, 'A number where the user has one.'),
    identifier: schema.orNull(schema.TEXT),
    email: schema.orNull(schema.TEXT),
    email_verified: schema.orNull(schema.FLAG),
  }),
);

const TIMES = { suspended_at: schema.TIME, ends_at: schema.orNull(schema.TIME) };

/** The schema of a suspension in the export of an account. */
export const SUSPENSION = schema.record<ExportedSuspension>(TIMES);

const ACCOUNT = schema.record<OperatedAccount>({
  user: USER,
  created_at: schema.of(schema.orNull(schema.TIME), 'The property `createdAt` of the user, where that is a time.'),
  last_sign_in_at: schema.of(schema.orNull(schema.TIME), 'The start of the newest session that is kept.'),
  has_password: schema.FLAG,
  suspension: schema.orNull(schema.record<ShownSuspension>({ reason: schema.TEXT, ...TIMES })),
  locks: schema.listOf(
    schema.record<locking.ShownLock>({
      purpose: schema.TEXT,
      seconds: schema.of(schema.orNull(schema.INTEGER), 'Null for a lock that ends only when it is released.'),
    }),
  ),
  limits: schema.listOf(
    schema.record<locking.ShownLimit>({
      name: schema.oneOf('account-failures', '2fa-challenge'),
      failures: schema.INTEGER,
      most: schema.of(schema.INTEGER, 'The number of failures that closes it.'),
      seconds: schema.of(schema.INTEGER, 'Until the period ends.'),
    }),
  ),
  sessions: schema.listOf(schema.OBJECT),
  credentials: schema.of(
    schema.OBJECT,
    'The parts of the export of the account, by name, and how many codes are left.',
  ),
});

const ACTING = schema.record<ActingToken>({
  access_token: schema.TEXT,
  token_type: schema.oneOf('Bearer', 'DPoP'),
  expires_in: schema.INTEGER,
});

const parameters = { svcUser: schema.of(schema.TEXT, 'The id of a user.') };

const reads = { gates: [http.Abilities(OPERATOR_ABILITIES.read)], limiter: 'svc-operators', quiet: true };

type Declared = Parameters<typeof http.Route>[3];

/** An action: it needs its ability and a confirmation of the operator. */
const Action = (
  name: string,
  ability: keyof typeof OPERATOR_ABILITIES,
  { refusals = [], ...declared }: Pick<Declared, 'summary' | 'note' | 'answer' | 'headers' | 'refusals'>,
) =>
  http.Route('POST', `users/:svcUser/${name}`, `operator_${name.replaceAll('-', '_')}`, {
    parameters,
    gates: [http.Abilities(OPERATOR_ABILITIES[ability]), http.RequireConfirmation()],
    limiter: 'svc-operators',
    refusals: [UserNotFound, OperatorProtected, ...refusals],
    ...declared,
  });

const { CurrentCaller, RequestBody } = http;
type Caller = identity.Caller;

/** The routes of operators, at their own guard. They concern users of the guard that `operators.users` names. */
@Controller('operators')
export class OperatorsController {
  constructor(
    private readonly realm: Realm,
    private readonly realms: Realms,
    @Inject(settings.AUTH_CONFIG) private readonly config: settings.AuthConfig,
  ) {}

  @http.Route('POST', 'find', 'operator_find', {
    summary: 'Finds users by an identifier or an email',
    ...reads,
    status: 200,
    answer: http.listed(USER),
  })
  find(@RequestBody() { identifier }: FindUserRequest): Promise<FoundUser[]> {
    return this.users.get(OperatorView).find(identifier);
  }

  @http.Route('GET', 'users/:svcUser', 'operator_show', {
    summary: 'Shows the account of a user',
    ...reads,
    parameters,
    answer: ACCOUNT,
    refusals: [UserNotFound],
  })
  show(@Param('svcUser') id: string): Promise<OperatedAccount> {
    return this.users.get(OperatorView).show(id);
  }

  @http.Route('GET', 'users/:svcUser/history', 'operator_history', {
    summary: 'Lists what happened to the account of a user',
    note: 'The newest line is the first. Empty without `features.audit` at the guard of the user.',
    ...reads,
    ...HISTORY_PARAMETERS,
    parameters: { ...parameters, ...HISTORY_PARAMETERS.parameters },
    answer: OPERATORS_HISTORY,
  })
  async history(@Param('svcUser') id: string, @Req() request: AskedHistory): Promise<HistoryPage<AuditedLine>> {
    const query = historyQuery(request);
    const none: HistoryPage<AuditedLine> = { data: [], next: null };
    if (!this.users.has(AuditTrail)) return none;
    // Also of an account that was deleted. No account has an id that PostgreSQL cannot store.
    return this.users.get(AuditTrail).page(id, query).catch(deadline.valueIf(pg.isUnstorable, none));
  }

  @Action('end-sessions', 'sessions', {
    summary: 'Ends one session or all sessions of a user',
    refusals: [session.SessionNotFound],
  })
  endSessions(@CurrentCaller() by: Caller, @Param('svcUser') id: string, @RequestBody() body: EndSessionsRequest) {
    // A blank id must not end all of them.
    if ((body.session === null) !== (body.all === true) || isUnusable(body.session)) throw unusableField('session');
    return this.actions.endSessions(actOf(by, id, body), body.session);
  }

  @Action('release', 'locks', { summary: 'Releases the locks and the limits of a user' })
  release(@CurrentCaller() by: Caller, @Param('svcUser') id: string, @RequestBody() body: ActionRequest) {
    return this.actions.release(actOf(by, id, body));
  }

  @Action('remove-credential', 'credentials', {
    summary: 'Removes a factor or another credential of a user',
    note: 'Also a required one, and the last one. Answers 409 if the user does not have it.',
    refusals: [() => new NotApplicable('nothing_to_remove')],
  })
  removeCredential(@CurrentCaller() by: Caller, @Param('svcUser') id: string, @RequestBody() body: RemovalRequest) {
    return this.actions.removeCredential(actOf(by, id, body), body.kind, body.credential ?? '');
  }

  @Action('require-password', 'passwords', {
    summary: 'Makes the password of a user unusable, and mails a link to choose a new one',
    note: 'All sessions of the user end. Answers 409 for a user without a password or without a proved way to get the mail.',
    refusals: [() => new NotApplicable('no_password')],
  })
  requirePassword(@CurrentCaller() by: Caller, @Param('svcUser') id: string, @RequestBody() body: ActionRequest) {
    return this.actions.requirePassword(actOf(by, id, body));
  }

  @Action('suspend', 'suspensions', { summary: 'Suspends a user, and ends all sessions' })
  suspend(@CurrentCaller() by: Caller, @Param('svcUser') id: string, @RequestBody() body: SuspendRequest) {
    return this.actions.suspend(actOf(by, id, body), body.until);
  }

  @Action('restore', 'suspensions', {
    summary: 'Ends the suspension of a user',
    refusals: [() => new NotApplicable('not_suspended')],
  })
  restore(@CurrentCaller() by: Caller, @Param('svcUser') id: string, @RequestBody() body: ActionRequest) {
    return this.actions.restore(actOf(by, id, body));
  }

  @Action('act', 'act', {
    summary: 'Gives an access token with which the operator acts as a user',
    note: 'The token has the claim `act`, and no refresh token. It cannot step up, and ends with the session of the operator.',
    refusals: [() => new NotApplicable('cannot_act')],
    answer: ACTING,
    headers: { 'Cache-Control': 'no-store' },
  })
  act(
    @CurrentCaller() by: Caller,
    @Param('svcUser') id: string,
    @RequestBody() { abilities, seconds, ...body }: ActRequest,
    @Req() request: object,
  ): Promise<ActingToken> {
    const asked = abilities ?? [];
    if (!asked.every((name) => typeof name === 'string')) throw unusableField('abilities');
    return this.users.get(Acting).start(actOf(by, id, body), asked, seconds, request);
  }

  private get users() {
    return operatedBy(this.realms, this.realm, this.config);
  }

  private get actions(): OperatorActions {
    return this.users.get(OperatorActions);
  }
}

/** Whether PostgreSQL cannot store a text of a body. */
const isUnusable = (text: string | null): boolean => text !== null && input.fieldFault(text, {}) !== null;

/** @throws ValidationFailed for a reason that cannot be stored */
function actOf(operator: identity.Caller, userId: string, { reason }: ActionRequest) {
  if (isUnusable(reason)) throw unusableField('reason');
  return { operator, userId, reason } satisfies OperatorAct;
}

declare module '../../request/http/server-call' {
  interface Capabilities {
    /** What operators do to the accounts of users: `auth.guard('admin').operators`. */
    readonly operators: OperatorFlow;
  }
}

/** Why an operator acts. */
export interface ActionReason {
  readonly reason: string;
}

/**
 * What operators do, as server calls of their routes: each needs the caller of the operator with the ability, and a confirmation.
 * At the guard of the operators.
 *
 * @publicApi
 */
export class OperatorFlow extends http.Flow {
  /** As `POST /operators/find`. @throws Unauthenticated, InsufficientScope, ValidationFailed */
  find(identifier: string, source: http.CallSource): Promise<FoundUser[]> {
    return this.call(OperatorsController, 'find', source, { identifier });
  }

  /** As `GET /operators/users/:id`. @throws Unauthenticated, InsufficientScope, UserNotFound */
  show(userId: string, source: http.CallSource): Promise<OperatedAccount> {
    return this.call(OperatorsController, 'show', source, { svcUser: userId });
  }

  /** As `GET /operators/users/:id/history`. @throws Unauthenticated, InsufficientScope, ValidationFailed */
  history(userId: string, query: HistoryQuery, source: http.CallSource): Promise<HistoryPage<AuditedLine>> {
    return this.call(OperatorsController, 'history', source, { ...query, svcUser: userId });
  }

  /**
   * As `POST /operators/users/:id/end-sessions`: ends all sessions, or one.
   *
   * @throws Unauthenticated, InsufficientScope, ConfirmationRequired, ValidationFailed, UserNotFound, OperatorProtected, SessionNotFound
   */
  endSessions(
    userId: string,
    given: ActionReason & ({ readonly session: string } | { readonly all: true }),
    source: http.CallSource,
  ): Promise<void> {
    return this.call(OperatorsController, 'endSessions', source, { ...given, svcUser: userId });
  }

  /** As `POST /operators/users/:id/release`. @throws as {@link endSessions} */
  release(userId: string, given: ActionReason, source: http.CallSource): Promise<void> {
    return this.call(OperatorsController, 'release', source, { ...given, svcUser: userId });
  }

  /** As `POST /operators/users/:id/remove-credential`. @throws as {@link endSessions}; NotApplicable */
  removeCredential(
    userId: string,
    given: ActionReason & { readonly kind: string; readonly credential?: string },
    source: http.CallSource,
  ): Promise<void> {
    return this.call(OperatorsController, 'removeCredential', source, { ...given, svcUser: userId });
  }

  /** As `POST /operators/users/:id/require-password`. @throws as {@link endSessions}; NotApplicable */
  requirePassword(userId: string, given: ActionReason, source: http.CallSource): Promise<void> {
    return this.call(OperatorsController, 'requirePassword', source, { ...given, svcUser: userId });
  }

  /** As `POST /operators/users/:id/suspend`. @param given.until ISO 8601 @throws as {@link endSessions} */
  suspend(userId: string, given: ActionReason & { readonly until?: string }, source: http.CallSource): Promise<void> {
    return this.call(OperatorsController, 'suspend', source, { ...given, svcUser: userId });
  }

  /** As `POST /operators/users/:id/restore`. @throws as {@link endSessions}; NotApplicable */
  restore(userId: string, given: ActionReason, source: http.CallSource): Promise<void> {
    return this.call(OperatorsController, 'restore', source, { ...given, svcUser: userId });
  }

  /**
   * As `POST /operators/users/:id/act`: an access token with which the operator acts as the user.
   *
   * @throws as {@link endSessions}; NotApplicable for a user who may not sign in
   */
  actAs(
    userId: string,
    given: ActionReason & { readonly abilities?: readonly string[]; readonly seconds?: number },
    source: http.CallSource,
  ): Promise<ActingToken> {
    return this.call(OperatorsController, 'act', source, { ...given, svcUser: userId });
  }
}
