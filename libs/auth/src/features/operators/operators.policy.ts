/** The ability that each action of an operator needs, in the access token of the guard of the operators. */
export const OPERATOR_ABILITIES = {
  read: 'svc.operators.read',
  sessions: 'svc.operators.sessions',
  locks: 'svc.operators.locks',
  credentials: 'svc.operators.credentials',
  passwords: 'svc.operators.passwords',
  suspensions: 'svc.operators.suspensions',
  act: 'svc.operators.act',
} as const;

/** Abilities, with their wildcards. */
interface Granted {
  covers(ability: string): boolean;
}

/** Whether abilities make their owner an operator. Pure. */
export const isOperator = (granted: Granted): boolean =>
  Object.values(OPERATOR_ABILITIES).some((name) => granted.covers(name));

/**
 * Whether an action of an operator may concern a user: itself, or one with an ability of an operator. Pure. No operator changes an
 * account with the power of an operator, also not the own one: one stolen account would take over or end the others. The console does.
 */
export const targetVerdict = (
  isSelf: boolean,
  isOperators: boolean,
): 'allowed' | 'own_account' | 'operator_protected' =>
  isSelf ? 'own_account' : isOperators ? 'operator_protected' : 'allowed';

/**
 * Whether a token with which an operator acts as a user may have abilities: those that the host offers and the user has. Pure.
 *
 * @param ofUser the abilities that a new token of the user would have; null where tokens of the users have none
 */
export const mayAct = (asked: readonly string[], offered: readonly string[], ofUser: Granted | null): boolean =>
  asked.every((name) => offered.includes(name) && (ofUser === null || ofUser.covers(name)));

/** Whether the option `operators.abilities` may contain a name: no wildcard, and nothing with which an account is changed. Pure. */
export const isOfferable = (name: string): boolean => !name.endsWith('*') && name !== 'svc' && !name.startsWith('svc.');

/** The longest suspension with an end, in milliseconds: ten years. */
const LONGEST_MS = 10 * 365 * 86_400_000;

/**
 * The end of a suspension from the text of a request: null for none, undefined for a text that is no time from now to ten years. Pure.
 */
export function endOfSuspension(text: string | null, now: Date): Date | null | undefined {
  if (text === null) return null;
  const [, day] = /^(\d{4}-\d{2}-\d{2})T[\d:.]+(?:Z|[+-]\d{2}:\d{2})$/.exec(text) ?? [];
  // `Date.parse` reads February 31 as March 3.
  const at = day !== undefined && isDay(day) ? Date.parse(text) : NaN;
  return at > now.getTime() && at <= now.getTime() + LONGEST_MS ? new Date(at) : undefined;
}

const isDay = (day: string): boolean => {
  const at = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day);
};
