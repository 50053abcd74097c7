import { Unauthenticated } from '../../foundation/platform/errors';
import type { AccessClaims } from './access-token.policy';

/**
 * The caller of a request, authenticated by an access token.
 *
 * @publicApi
 */
export interface Caller<User extends object = object> {
  /** The guard that verified the token. Only guard and `userId` together identify an account. */
  readonly guard: string;
  readonly userId: string;
  /** The id of the session; null for a co-issuer's token without a session. */
  readonly familyId: string | null;
  /** The abilities of this token. They apply to this request, not to the user. */
  readonly grant: Grant;
  readonly claims: AccessClaims;
  /** The user as the guard's provider returned it for this request. */
  readonly user: User;
}

const CALLERS = Symbol('svc.callers');

interface Carrier {
  [CALLERS]?: Map<string, Caller>;
}

/** Records the caller of a request by guard. The caller recorded last is the active one. */
export function recordCaller(request: object, caller: Caller): Caller {
  const callers = ((request as Carrier)[CALLERS] ??= new Map());
  callers.delete(caller.guard);
  callers.set(caller.guard, caller);
  return caller;
}

/** The caller that `guard` authenticated on this request. @throws Unauthenticated if there is none */
export function callerAt(request: object, guard: string): Caller {
  const caller = callerOf(request, guard);
  if (!caller) throw new Unauthenticated(false).withReason('missing_token');
  return caller;
}

/** The caller that `guard` authenticated on this request; without a guard, the caller recorded last. */
export function callerOf(request: object, guard?: string): Caller | undefined {
  const callers = (request as Carrier)[CALLERS];
  return guard === undefined ? [...(callers?.values() ?? [])].at(-1) : callers?.get(guard);
}

const ALL = '*';

/** The abilities of one token. */
export class Grant {
  private readonly names: ReadonlySet<string>;
  private readonly prefixes: readonly string[];

  constructor(readonly abilities: readonly string[]) {
    this.names = new Set(abilities);
    this.prefixes = abilities.filter((name) => name.endsWith('.*')).map((name) => name.slice(0, -1));
  }

  /** Reads a `scope` claim (RFC 8693 §4.2). A value that is not a string grants nothing. */
  static ofScope(scope: unknown): Grant {
    return new Grant(typeof scope === 'string' ? scope.split(' ').filter(Boolean) : []);
  }

  /**
   * Whether the grant covers `ability`: by its exact name, by `*`, or by a `prefix.*` that its name
   * starts with, dot included. Case-sensitive; a wildcard in `ability` itself is literal.
   */
  covers(ability: string): boolean {
    if (!ability) return false;
    return this.names.has(ALL) || this.names.has(ability) || this.prefixes.some((prefix) => ability.startsWith(prefix));
  }
}

/**
 * Where to find the caller: a request that a guard has authenticated, or the recorded caller itself.
 *
 * @publicApi
 */
export type TokenSource = Caller | object | null | undefined;

/** The caller of a source that `guard` authenticated; without a guard, the caller recorded last. */
export function callerIn(from: TokenSource, guard?: string): Caller | undefined {
  if (typeof from !== 'object' || from === null) return undefined;
  if (!isCaller(from)) return callerOf(from, guard);
  return guard === undefined || from.guard === guard ? from : undefined;
}

// Checks the class, because a request or a body could have a member with this name.
const isCaller = (from: object): from is Caller => 'grant' in from && from.grant instanceof Grant;
