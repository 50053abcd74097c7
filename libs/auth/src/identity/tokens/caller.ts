import { Unauthenticated } from '../../foundation/platform/errors';
import type { AccessClaims } from './access-token.policy';

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
  if (!caller) throw new Unauthenticated(false).withReason('missing_token');
  return caller;
}

/** The caller that `guard` authenticated on this request, or the last one of any guard. */
export function callerOf(request: object, guard?: string): Caller | undefined {
  const callers = (request as Carrier)[CALLERS];
  return guard === undefined ? [...(callers?.values() ?? [])].at(-1) : callers?.get(guard);
}

const ALL = '*';

/** What one token may do. */
export class Grant {
  private readonly names: ReadonlySet<string>;
  private readonly prefixes: readonly string[];

  constructor(readonly abilities: readonly string[]) {
    this.names = new Set(abilities);
    this.prefixes = abilities.filter((name) => name.endsWith('.*')).map((name) => name.slice(0, -1));
  }

  /** Reads a `scope` claim (RFC 8693 §4.2). What is no string grants nothing. */
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
 * Where a verified token is looked for: a request that a guard has authenticated, or the caller it recorded.
 *
 * @publicApi
 */
export type TokenSource = Caller | object | null | undefined;

/** The caller a source stands for; of `guard`, where one is named, else of the guard that spoke last. */
export function callerIn(from: TokenSource, guard?: string): Caller | undefined {
  if (typeof from !== 'object' || from === null) return undefined;
  if (!isCaller(from)) return callerOf(from, guard);
  return guard === undefined || from.guard === guard ? from : undefined;
}

// A class of ours, and no shape that a request or a body could have.
const isCaller = (from: object): from is Caller => 'grant' in from && from.grant instanceof Grant;
