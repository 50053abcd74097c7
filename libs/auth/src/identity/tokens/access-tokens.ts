import { Injectable, Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { Clock } from '../../foundation/platform/clock';
import { callHost } from '../../foundation/platform/deadline';
import { AuthConfigError, AuthException } from '../../foundation/platform/errors';
import type { GuardServices } from '../../foundation/realm/feature-data';
import { Realm, RealmScope } from '../../foundation/realm/realm';
import { once } from '../../foundation/platform/sweep';
import { longestLife } from '../denylist/denylist';
import { type MailedAccount, TimedUserProvider, nullWithout } from '../users/timed-user-provider';
import {
  ACCESS_TOKEN_TYPE,
  type AccessClaims,
  type Expectations,
  accessClaims,
  claimProblem,
  isAccessToken,
  isOver,
} from './access-token.policy';
import { TokenBindings } from './caller';
import { Keyring, type VerifiedJws, VerifiedSignatures, prepareKey, signJws, verifyJws } from './keyring';

/** The input of an access token. */
export interface Mintable {
  userId: string;
  familyId: string;
  /** How the user authenticated (RFC 8176). The token has no `amr` claim if the list is empty. */
  amr: readonly string[];
  /** Unix seconds of that authentication. */
  authTime: number;
  /** Claims of hooks and of the login. */
  custom: object;
  /** Space-delimited abilities; undefined where abilities are unused. */
  scope: string | undefined;
  pinned: boolean;
  /** The thumbprint (RFC 7638) of the key to which the session is bound; null or absent for none. */
  jkt?: string | null;
  /** Seconds for which the token lives; by default `accessTtl`, which is the longest life. */
  ttl?: number;
}

/** Mints and verifies the realm's access tokens (RFC 9068). */
@Injectable()
export class AccessTokens {
  private readonly audience: string | string[];
  private readonly expected = once((): Expectations => {
    const { issuer, audience, leeway, tokenIds: ids } = this.realm.options;
    const { members: confirmations } = this.bindings;
    return { issuer, audience, leeway, ids, confirmations, longestLife: longestLife(this.realm.options) };
  });
  /** Undefined with HS256: its verification takes hardly longer than a look-up. */
  private readonly signatures: VerifiedSignatures | undefined;

  constructor(
    private readonly keyring: Keyring,
    private readonly realm: Realm,
    private readonly clock: Clock,
    private readonly bindings: TokenBindings,
  ) {
    const { audience } = realm.options;
    this.signatures = keyring.algorithm === 'HS256' ? undefined : new VerifiedSignatures();
    this.audience = audience.length === 1 ? audience[0]! : [...audience];
  }

  /** Lifetime of a token in seconds: `expires_in`. */
  get ttl(): number {
    return this.realm.options.accessTtl;
  }

  mint({ userId, familyId, amr, authTime, custom, scope, pinned, jkt = null, ttl = this.ttl }: Mintable): string {
    const now = this.clock.seconds();
    const standard = {
      iss: this.realm.options.issuer,
      aud: this.audience,
      sub: userId,
      fid: familyId,
      jti: randomUUID(),
      iat: now,
      nbf: now,
      exp: now + Math.min(ttl, this.ttl),
      auth_time: authTime,
      ...(amr.length && { amr: [...amr] }),
      ...(jkt !== null && { cnf: { jkt } }),
    };
    return signJws(this.keyring, ACCESS_TOKEN_TYPE, accessClaims({ custom, standard, scope, pinned }));
  }

  /** A promise to await before {@link read}; undefined if there is nothing to wait for. @throws StoreUnavailable */
  prepare(token: string): Promise<void> | undefined {
    return prepareKey(this.keyring, token);
  }

  /** The claims of a valid token of this realm, or the reason why the token is refused. Reads no store. */
  read(token: string): AccessClaims | 'invalid_token' | 'expired_token' {
    const jws = verifyJws(this.keyring, token, this.signatures);
    if (!jws) return 'invalid_token';
    const expired = isOver(jws.claims, this.realm.options.leeway, this.clock.seconds());
    return this.validClaims(jws) ?? (expired ? 'expired_token' : 'invalid_token');
  }

  /** The claims of a token that was valid until it expired, within the longest life of a session; null otherwise. Reads no store. */
  readExpired(token: string): AccessClaims | null {
    const jws = verifyJws(this.keyring, token, this.signatures);
    const [{ leeway, refreshTtl }, now] = [this.realm.options, this.clock.seconds()];
    if (!jws || !isOver(jws.claims, leeway, now) || isOver(jws.claims, refreshTtl, now)) return null;
    const { header, claims } = jws;
    return isAccessToken(header, claims, this.expected(), Number(claims.exp) - 1) ? claims : null;
  }

  /** Checks the claims of a token with a verified signature. Null if they are not valid. */
  validClaims({ header, claims }: VerifiedJws): AccessClaims | null {
    return isAccessToken(header, claims, this.expected(), this.clock.seconds()) ? claims : null;
  }
}

/** The host gives a token a claim that no token can have: 422. The message describes the claim. */
export class UnusableClaim extends AuthException {
  constructor(problem: string) {
    super('unusable_claim', { status: 422, text: { key: 'auth.unusable_claim' } });
    this.message = `${problem} Change hooks.tokenClaims or the claims of the session.`;
  }
}

/** Maximum number of different problems of claims that a process logs: names may come from data of users. */
const PROBLEMS_LOGGED = 100;

/** Reads the host's extra claims for an access token. */
@Injectable()
export class TokenClaims {
  private readonly logger = new Logger('Auth');
  private readonly logged = new Set<string>();

  constructor(private readonly realm: Realm) {}

  /**
   * The claims that `hooks.tokenClaims` returns, and those of the login, which replace them.
   *
   * @throws UnusableClaim, before anything is stored or consumed; StoreUnavailable if the hook does not settle in time;
   * every error of the hook
   */
  async claimsFor(userId: string, familyId: string, ofLogin: object | null = null): Promise<object> {
    const { guard, options } = this.realm;
    const { tokenClaims } = options.hooks;
    const claims: unknown =
      tokenClaims && (await callHost('hooks.tokenClaims', () => tokenClaims(userId, { guard, userId, familyId })));
    const ofHook = typeof claims === 'object' && claims !== null && !Array.isArray(claims) ? claims : {};
    const custom = { ...ofHook, ...ofLogin };
    const problem = claimProblem(custom);
    if (problem === null) return custom;
    const error = new UnusableClaim(problem);
    if (this.logged.size < PROBLEMS_LOGGED && !this.logged.has(problem)) {
      this.logged.add(problem);
      this.logger.error(error.message);
    }
    throw error.withReason('other', userId);
  }
}

/** Whether a user may have sessions: `missing` if the user does not exist, `refused` by `hooks.canSignIn` or by a feature. */
export type AccountStanding = 'good' | 'missing' | 'refused';

declare module '../../foundation/realm/feature' {
  interface HookPoints {
    /** The check whether the feature refuses sessions of a user; null where it refuses nobody. Is asked once for a guard. */
    readonly refusesSessions?: (services: GuardServices) => ((userId: string) => Promise<boolean>) | null;
  }
}

/** `hooks.canSignIn` or a feature refuses the user: 401. Only a client that has proven the user's identity gets this answer. */
export class SignInRefused extends AuthException {
  constructor() {
    super('sign_in_refused', { status: 401, text: { key: 'auth.sign_in_refused' } });
  }

  /** The request had the right secret, so it does not count as a failure. */
  override get isInconclusive(): boolean {
    return true;
  }
}

/** Reads whether a user may have sessions. Every session is started and refreshed only after this check. */
@Injectable()
export class AccountStandings {
  private readonly refusals = once(() =>
    this.scope.hooks('refusesSessions').flatMap((check) => check(this.scope) ?? []),
  );

  constructor(
    private readonly users: TimedUserProvider,
    private readonly scope: RealmScope,
  ) {}

  /** Whether a user who exists may be refused. */
  get mayRefuse(): boolean {
    return this.scope.realm.options.hooks.canSignIn !== undefined || this.refusals().length > 0;
  }

  /**
   * @param exists true if it is known that the user exists
   * @throws AuthConfigError if `hooks.canSignIn` returns no boolean; StoreUnavailable if it does not settle in time;
   * every error of the hook
   */
  async of(userId: string, exists = false): Promise<AccountStanding> {
    const refusing = this.refusals().map((refuses) => refuses(userId));
    const [own, ...refused] = await Promise.all([this.ofHost(userId, exists), ...refusing]);
    return own === 'good' && refused.includes(true) ? 'refused' : own;
  }

  private async ofHost(userId: string, exists: boolean): Promise<AccountStanding> {
    const { guard, options } = this.scope.realm;
    const { canSignIn } = options.hooks;
    if (!canSignIn && exists) return 'good';
    const user = await this.users.findById(userId);
    if (!user) return 'missing';
    const allowed: unknown = canSignIn ? await callHost('hooks.canSignIn', () => canSignIn(user, { guard })) : true;
    // A hook that returns nothing by mistake must neither admit every user nor end their sessions.
    if (typeof allowed !== 'boolean') throw new AuthConfigError('hooks.canSignIn must return true or false.');
    return allowed ? 'good' : 'refused';
  }

  /** Whether the user is refused. Before a session starts: nothing has been stored or consumed yet. */
  async isRefused(userId: string): Promise<boolean> {
    return this.mayRefuse && (await this.of(userId)) === 'refused';
  }

  /** {@link isRefused}, with the same look-ups without an account: the time must not show whether there is one. */
  isMailedRefused(account: MailedAccount | null): Promise<boolean> {
    return this.isRefused(account?.userId ?? '')
      .catch(nullWithout(account))
      .then(Boolean);
  }

  /** @throws SignInRefused */
  async refuse(userId: string): Promise<void> {
    if (await this.isRefused(userId)) throw new SignInRefused().withReason('sign_in_refused', userId);
  }
}
