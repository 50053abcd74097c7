import { data, defineFeature, event, limiter, mailing, type settings } from '../../kit';
import { Acting, ActorGate } from './acting';
import { OperatorActions } from './operator-actions';
import { OperatorView } from './operator-view';
import { USER_COMMAND } from './operators.command';
import { OperatorFlow, OperatorsController, SUSPENSION } from './operators.controller';
import { OPERATOR_REASONS } from './operators.errors';
import { OPERATOR_EVENTS, OperatorActed, type OperatorAction } from './operators.events';
import { OPERATORS_OPTIONS } from './operators.options';
import { isOfferable } from './operators.policy';
import { CreateSvcSuspensions1764790000000, Suspension, Suspensions, usersOf } from './suspension';

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends Readonly<typeof OPERATOR_REASONS> {}
}

function optionErrors(guard: settings.GuardConfig, config: settings.AuthConfig): string[] {
  const { features, hooks, operators, nameOf } = guard;
  if (!features.operators) return [];
  const [flag, named] = [nameOf('features.operators'), `${nameOf('operators.users')} (SVC_OPERATORS_USERS)`];
  const users = usersOf(guard, config);
  const [names, own] = [config.guards.map((other) => other.guard), users === guard.guard];
  const other = names.find((name) => name !== users);
  // An option of the top level is that of every guard, also of the users.
  const isOfGuard = flag !== 'features.operators';
  return [
    !names.includes(users) && `${named} names no guard: "${users}". Set it to one of: ${names.join(', ')}.`,
    own &&
      other &&
      (isOfGuard
        ? `${named} is "${users}", the guard of the operators. Set it to the guard of the users whom they help, such as "${other}".`
        : `features.operators (SVC_FEATURE_OPERATORS) is on at the guard "${users}", whose users the operators help. Turn it on at the guard of the operators only: guards.${other}.features.operators.`),
    !(features.abilities || hooks.abilities) &&
      `${flag} needs abilities at the guard "${guard.guard}": each action needs its own. Set hooks.abilities.`,
    ...operators.abilities.map(
      (name) =>
        !isOfferable(name) &&
        `${nameOf('operators.abilities')} contains "${name}". Use names without wildcards, which do not begin with "svc.".`,
    ),
  ].filter((text): text is string => typeof text === 'string');
}

const informOf = (action: OperatorAction): event.ChangeSource =>
  event.informOn(OperatorActed, (acted) => (acted.action === action ? acted.userId : null));

/** What operators do to the accounts of users, at a guard of their own. */
export const operators = defineFeature('operators', {
  flags: ['operators'],
  options: OPERATORS_OPTIONS,
  configErrors: (config) => config.guards.flatMap((guard) => optionErrors(guard, config)),
  limits: { 'svc-operators': limiter.perClientAndUser(({ operators: rate }) => rate) },
  capabilities: { operators: OperatorFlow },
  controllers: [OperatorsController],
});

/** What each guard has for the operators of another one: suspensions, and sessions in which an operator acts as a user. */
export const operatedAccounts = defineFeature('operatedAccounts', {
  keepsCredentials: ['suspended'],
  reasons: OPERATOR_REASONS,
  languages: () => (require('./operators.languages') as typeof import('./operators.languages')).operatorsLanguages,
  mails: {
    accountSuspended: mailing.CHANGE_MAIL,
    supportEndedSessions: mailing.CHANGE_MAIL,
    supportSignedIn: mailing.CHANGE_MAIL,
  },
  informs: {
    accountSuspended: [informOf('suspend')],
    supportEndedSessions: [informOf('end_sessions')],
    supportSignedIn: [informOf('act')],
  },
  events: OPERATOR_EVENTS,
  exportedIfUsed: { suspension: SUSPENSION },
  commands: { user: USER_COMMAND },
  providers: [OperatorView, OperatorActions, Acting, ActorGate],
  on: {
    refusesSessions: (services) => services.get(Suspensions).check,
    originCurrent: (services, origin) => services.get(Acting).isCurrent(origin),
  },
  data: {
    entities: [{ entity: Suspension, migration: CreateSvcSuspensions1764790000000 }],
    stores: [Suspensions],
    export: {
      suspension: async (services, userId) => {
        const suspensions = services.get(Suspensions);
        const found = suspensions.operatorGuards().length ? await suspensions.find(userId) : null;
        return found ? { suspended_at: found.suspended_at, ends_at: found.ends_at } : undefined;
      },
    },
    erase: [data.rowsOfUser(Suspension)],
    prune: { suspensions: { title: 'suspensions', run: (services) => services.get(Suspensions).prune() } },
  },
});
