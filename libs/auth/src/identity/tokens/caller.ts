import { Unauthenticated } from '../../foundation/platform/errors';
import { Grant, type VerifiedToken, recordUser, tokenOfUser } from '../users/grant';
import type { AccessClaims } from './access-token.policy';

/**
 * The caller of a request, authenticated by an access token.
 *
 * @publicApi
 */
export interface Caller<User extends object = object> extends VerifiedToken {
  /** The id of the session; null for a co-issuer's token without a session. */
  readonly familyId: string | null;
  readonly claims: AccessClaims;
  readonly user: User;
}

const CALLERS = Symbol('svc.callers');

interface Carrier {
  [CALLERS]?: Map<string, Caller>;
}

/** Records the caller of a request by guard, and the token of the user object. The caller recorded last is the active one. */
export function recordCaller(request: object, caller: Caller): Caller {
  const callers = ((request as Carrier)[CALLERS] ??= new Map());
  callers.delete(caller.guard);
  callers.set(caller.guard, caller);
  recordUser(callers, caller);
  return caller;
}

const pins = new WeakMap<Caller, boolean>();

/** Records what was read with the caller: whether its session has a pinned list of abilities, which never changes. */
export const recordPin = (caller: Caller, isPinned: boolean): void => void pins.set(caller, isPinned);

/** Whether the session of a caller has a pinned list of abilities; undefined if it was not read. */
export const pinOf = (caller: Caller): boolean | undefined => pins.get(caller);

const credentialGates = new WeakMap<Caller, object>();

/**
 * Records which gate has authenticated a caller with another credential than an access token. The caller counts only for routes
 * with this gate: the fields of one GraphQL operation share a request, and not all of them accept the credential.
 */
export const recordCredentialGate = (caller: Caller, gate: object): void => void credentialGates.set(caller, gate);

/** The gate of {@link recordCredentialGate}; undefined for a caller with an access token. */
export const credentialGateOf = (caller: Caller): object | undefined => credentialGates.get(caller);

/** A request of Express has the route that handles it, another one for each handler that `next()` calls; one of Fastify has one handler. */
interface Routed {
  readonly route?: unknown;
}

const credentialRoutes = new WeakMap<Caller, Routed>();

/**
 * Records that the caller of `guard` counts for the HTTP route that handles the request, if it has another credential than an
 * access token. Passport knows a request, and not which route asks.
 */
export function recordCredentialRoute(request: object & Routed, guard: string): void {
  const caller = callerOf(request, guard);
  if (caller && credentialGates.has(caller)) credentialRoutes.set(caller, { route: request.route });
}

/** The caller of {@link recordCredentialRoute} at `guard`, if it counts for the route that handles the request now. */
export function callerOfRoute(request: object & Routed, guard: string): Caller | undefined {
  const caller = callerOf(request, guard);
  const counted = caller && credentialRoutes.get(caller);
  return counted && counted.route === request.route ? caller : undefined;
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

/**
 * Where to find a verified token: a request that a guard has authenticated, its {@link Caller}, or the user object that
 * a guard put on the request (`request.user`, `@CurrentUser()`).
 *
 * A user is recognized by the object itself. An object that no guard has read has no token: a copy, or another object of
 * the same row. If a user provider returns one object for several requests with different tokens, that object has none
 * either; pass the request or the caller.
 *
 * @publicApi
 */
export type TokenSource = Caller | object | null | undefined;

/** The caller of a request, or a caller itself, that `guard` authenticated; without a guard, the active caller. */
export function callerIn(from: TokenSource, guard?: string): Caller | undefined {
  if (typeof from !== 'object' || from === null) return undefined;
  if (!isCaller(from)) return callerOf(from, guard);
  return guard === undefined || from.guard === guard ? from : undefined;
}

/** The token of any source that `guard` verified; without a guard, that of the active guard. */
export const tokenIn = (from: TokenSource, guard?: string): VerifiedToken | undefined =>
  callerIn(from, guard) ?? (typeof from === 'object' && from !== null ? tokenOfUser(from, guard) : undefined);

/** The abilities of the token in a source. Without a token they grant nothing. */
export const grantIn = (from: TokenSource, guard?: string): Grant => tokenIn(from, guard)?.grant ?? Grant.NONE;

// Checks the class, because a request or a body could have a member with this name.
const isCaller = (from: object): from is Caller => 'grant' in from && from.grant instanceof Grant;
