import { Injectable } from '@nestjs/common';
import { type AuthException, Unauthenticated } from '../../foundation/platform/errors';
import { once } from '../../foundation/platform/sweep';
import type { TokenType } from '../../foundation/ports/presenter';
import { RealmScope } from '../../foundation/realm/realm';
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

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** A request, or the handshake that stands for one. Its fields as received are in Node's request, which Fastify wraps. */
export interface Credentialed {
  readonly headers?: Headers;
  readonly rawHeaders?: readonly string[];
  readonly raw?: { readonly rawHeaders?: readonly string[] };
}

/** The credential of the header `Authorization`. Both texts are empty without one. */
export interface Credential {
  /** In lower case (RFC 9110 §11.1). */
  readonly scheme: string;
  readonly token: string;
}

const NONE: Credential = { scheme: '', token: '' };

/**
 * The credential of the `Authorization` header (RFC 9110 §11.6.2). Of two such headers none is read: Node keeps the first one, and a
 * proxy may have checked the other.
 */
function credentialOf(request: Credentialed): Credential {
  const authorization = request.headers?.authorization;
  if (typeof authorization !== 'string' || isRepeated('authorization', request)) return NONE;
  const [, scheme, token] = /^([a-z]+) +([^ ]+) *$/i.exec(authorization) ?? [];
  return scheme && token ? { scheme: scheme.toLowerCase(), token } : NONE;
}

/** The credential of the `Authorization: Bearer` header (RFC 6750 §2.1), or the empty string. */
export function bearerOf(request: Credentialed): string {
  const { scheme, token } = credentialOf(request);
  return scheme === 'bearer' ? token : '';
}

/** Whether a request has a header several times, as received. */
export function isRepeated(name: string, { rawHeaders, raw }: Credentialed): boolean {
  const fields = rawHeaders ?? raw?.rawHeaders ?? [];
  let found = 0;
  // Names and values alternate.
  for (let i = 0; i < fields.length; i += 2) {
    const field = fields[i]!;
    if (field.length === name.length && field.toLowerCase() === name) found++;
  }
  return found > 1;
}

/** A session, with the thumbprint of the key to which it is bound; null for none. */
export interface HeldSession {
  readonly userId: string;
  readonly familyId: string;
  readonly jkt: string | null;
}

/** How a feature binds sessions and their access tokens to a key of the client (RFC 7800). */
export interface TokenBinding {
  /** The type of bound tokens (RFC 6749 §5.1), and in lower case the scheme of `Authorization` for them. */
  readonly tokenType: TokenType;
  /** The member of the claim `cnf` that it verifies. */
  readonly member: string;
  /** The refusals of requests that start or refresh a session. */
  readonly refusals: readonly (new () => AuthException)[];
  /** Its part of `WWW-Authenticate`. @param parameters without them, no error is named */
  challenge(...parameters: string[]): string;
  /**
   * Verifies that the sender of an access token has the key to which it is bound, and that a token without a key is accepted.
   *
   * @throws Unauthenticated, StoreUnavailable
   */
  verify(services: RealmScope, request: Credentialed, credential: Credential, claims: AccessClaims): Promise<void>;
  /**
   * The thumbprint of the key that the sender of a request has proved, for the session of the request; null for none.
   *
   * @param request undefined for a session that code of the host starts without one
   * @throws AuthException for an invalid proof, or where a key is required; StoreUnavailable
   */
  keyOf(services: RealmScope, request: object | undefined): Promise<string | null>;
  /**
   * Whether the sender of a refresh token may use its session: it has proved the key of the session, or needs none.
   *
   * @throws as {@link keyOf}
   */
  isHolder(services: RealmScope, request: object, session: HeldSession): Promise<Holding>;
}

/** Whether a sender holds a session. An exception is the refusal of a refresh whose sender may prove its key a moment later. */
export type Holding = boolean | AuthException;

declare module '../../foundation/realm/feature' {
  interface HookPoints {
    readonly tokenBinding?: TokenBinding;
    /** Whether the sender of a refresh token may use its session, besides what {@link TokenBinding.isHolder} decides. */
    readonly sessionHolder?: TokenBinding['isHolder'];
  }
}

/** What the features of the realm know about keys to which tokens are bound. */
@Injectable()
export class TokenBindings {
  private readonly all = once(() => this.scope.hooks('tokenBinding'));
  private readonly holders = once(() => this.scope.hooks('sessionHolder'));

  constructor(private readonly scope: RealmScope) {}

  get isUsed(): boolean {
    return this.all().length > 0;
  }

  /** The members of `cnf` that a feature verifies. A token with another one is refused. */
  get members(): readonly string[] {
    return this.all().map(({ member }) => member);
  }

  /** The access token of a request: of the scheme `Bearer`, or of that of a feature. */
  credentialOf(request: Credentialed): Credential {
    const credential = credentialOf(request);
    const isKnown =
      credential.scheme === 'bearer' ||
      this.all().some(({ tokenType }) => tokenType.toLowerCase() === credential.scheme);
    return isKnown ? credential : NONE;
  }

  /** The type of the tokens of a session. @param jkt the thumbprint of its key; null for none */
  typeOf(jkt: string | null): TokenType {
    return (jkt !== null && this.all()[0]?.tokenType) || 'Bearer';
  }

  /** See {@link TokenBinding.verify}. Without a feature that binds tokens, no token with `cnf` gets here. */
  async verify(request: Credentialed, claims: AccessClaims): Promise<void> {
    for (const binding of this.all()) await binding.verify(this.scope, request, this.credentialOf(request), claims);
  }

  /** See {@link TokenBinding.keyOf}. */
  async keyOf(request: object | undefined): Promise<string | null> {
    for (const binding of this.all()) {
      const key = await binding.keyOf(this.scope, request);
      if (key !== null) return key;
    }
    return null;
  }

  /** Whether every sender of its tokens holds a session, because no feature binds sessions. */
  isHeldByAll({ jkt }: HeldSession): boolean {
    return jkt === null && !this.isUsed && !this.holders().length;
  }

  /** See {@link TokenBinding.isHolder}. Without a feature that binds sessions, a bound one is of no use. */
  async isHolder(request: object, session: HeldSession): Promise<Holding> {
    for (const one of [...this.all(), ...this.holders().map((isHolder) => ({ isHolder }))]) {
      const holding = await one.isHolder(this.scope, request, session);
      if (holding !== true) return holding;
    }
    return this.isUsed || session.jkt === null;
  }

  /** The refusal of a request, with the schemes that the realm accepts. @param presented whether a token was sent */
  refusal(presented: boolean): Unauthenticated {
    return new Unauthenticated(
      presented,
      this.all().map((binding) => binding.challenge()),
    );
  }

  /** The challenge of a refusal in the scheme of the token that the request has sent. It is stated for `Bearer`. */
  challengeFor(request: Credentialed, stated: string): string {
    const { scheme } = credentialOf(request);
    const sent = this.all().find(({ tokenType }) => tokenType.toLowerCase() === scheme);
    const [, parameters] = /^Bearer (.+)$/.exec(sent ? stated.replace(`, ${sent.challenge()}`, '') : '') ?? [];
    return parameters ? sent!.challenge(parameters) : stated;
  }
}
