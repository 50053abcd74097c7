import { Unauthenticated } from '../kernel/auth.exception';
import type { AccessClaims } from './access-token.policy';
import type { Grant } from './grant';

/**
 * Who a verified access token says is calling.
 *
 * @publicApi
 */
export interface Caller<User extends object = object> {
  /** The guard that verified the token. An account is (guard, userId), never the id alone. */
  readonly guard: string;
  readonly userId: string;
  /** The session; null for a token of a co-issuer that names none. */
  readonly familyId: string | null;
  /** What this token may do. Belongs to the request and not to the user, who outlives it. */
  readonly grant: Grant;
  readonly claims: AccessClaims;
  /** The user as the guard's provider returned it for this request. */
  readonly user: User;
}

const CALLERS = Symbol('svc.callers');

interface Carrier {
  [CALLERS]?: Map<string, Caller>;
}

/** Records who called, by guard; the last one is the active one. */
export function recordCaller(request: object, caller: Caller): Caller {
  const callers = ((request as Carrier)[CALLERS] ??= new Map());
  callers.delete(caller.guard);
  callers.set(caller.guard, caller);
  return caller;
}

/** The caller that `guard` authenticated on this request. @throws Unauthenticated where it authenticated none */
export function callerAt(request: object, guard: string): Caller {
  const caller = callerOf(request, guard);
  if (!caller) throw new Unauthenticated(false).because('missing_token');
  return caller;
}

/** The caller that `guard` authenticated on this request, or the last one of any guard. */
export function callerOf(request: object, guard?: string): Caller | undefined {
  const callers = (request as Carrier)[CALLERS];
  return guard === undefined ? [...(callers?.values() ?? [])].at(-1) : callers?.get(guard);
}
