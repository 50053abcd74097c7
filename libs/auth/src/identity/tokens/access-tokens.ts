import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { Clock } from '../../foundation/platform/clock';
import { Realm } from '../../foundation/realm/realm';
import { longestLife } from '../denylist/denylist';
import { TimedUserProvider } from '../users/timed-user-provider';
import {
  ACCESS_TOKEN_TYPE,
  type AccessClaims,
  type Expectations,
  accessClaims,
  isAccessToken,
  isOver,
} from './access-token.policy';
import { type VerifiedJws, prepareKey, signJws, verifyJws } from './jws';
import { Keyring } from './keyring';

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
}

/** Mints and verifies the realm's access tokens (RFC 9068). */
@Injectable()
export class AccessTokens {
  private readonly audience: string | string[];
  private readonly expected: Expectations;

  constructor(
    private readonly keyring: Keyring,
    private readonly realm: Realm,
    private readonly clock: Clock,
  ) {
    const { issuer, audience, leeway } = realm.options;
    this.expected = { issuer, audience, leeway, longestLife: longestLife(realm.options) };
    this.audience = audience.length === 1 ? audience[0]! : [...audience];
  }

  /** Lifetime of a token in seconds: `expires_in`. */
  get ttl(): number {
    return this.realm.options.accessTtl;
  }

  mint({ userId, familyId, amr, authTime, custom, scope, pinned }: Mintable): string {
    const now = this.clock.seconds();
    const standard = {
      iss: this.realm.options.issuer,
      aud: this.audience,
      sub: userId,
      fid: familyId,
      jti: randomUUID(),
      iat: now,
      nbf: now,
      exp: now + this.ttl,
      auth_time: authTime,
      ...(amr.length && { amr: [...amr] }),
    };
    return signJws(this.keyring, ACCESS_TOKEN_TYPE, accessClaims({ custom, standard, scope, pinned }));
  }

  /** A promise to await before {@link read}; undefined if there is nothing to wait for. @throws StoreUnavailable */
  prepare(token: string): Promise<void> | undefined {
    return prepareKey(this.keyring, token);
  }

  /** The claims of a valid token of this realm, or the reason why the token is refused. Reads no store. */
  read(token: string): AccessClaims | 'invalid_token' | 'expired_token' {
    const jws = verifyJws(this.keyring, token);
    if (!jws) return 'invalid_token';
    const expired = isOver(jws.claims, this.realm.options.leeway, this.clock.seconds());
    return this.validClaims(jws) ?? (expired ? 'expired_token' : 'invalid_token');
  }

  /** Checks the claims of a token with a verified signature. Null if they are not valid. */
  validClaims({ header, claims }: VerifiedJws): AccessClaims | null {
    return isAccessToken(header, claims, this.expected, this.clock.seconds()) ? claims : null;
  }
}

/** Reads the host's extra claims for an access token. */
@Injectable()
export class TokenClaims {
  constructor(private readonly realm: Realm) {}

  /** The object that `hooks.tokenClaims` returns, or an empty one. @throws errors of the hook */
  async claimsFor(userId: string, familyId: string): Promise<object> {
    const { guard, options } = this.realm;
    const claims = await options.hooks.tokenClaims?.(userId, { guard, userId, familyId });
    return typeof claims === 'object' && claims !== null && !Array.isArray(claims) ? claims : {};
  }
}

/** Whether a user may have sessions: `missing` if the user does not exist, `refused` by `hooks.canSignIn`. */
export type AccountStanding = 'good' | 'missing' | 'refused';

/** Reads whether a user may have sessions. Every session is started and refreshed only after this check. */
@Injectable()
export class AccountStandings {
  constructor(
    private readonly users: TimedUserProvider,
    private readonly realm: Realm,
  ) {}

  /**
   * @param exists whether the user exists, if that is known
   * @throws every error of `hooks.canSignIn`
   */
  async of(userId: string, exists?: boolean): Promise<AccountStanding> {
    const { guard, options } = this.realm;
    const { canSignIn } = options.hooks;
    if (!canSignIn && exists !== undefined) return exists ? 'good' : 'missing';
    const user = await this.users.findById(userId);
    if (!user) return 'missing';
    // Only true: a hook that returns nothing by mistake must not admit every user.
    return !canSignIn || (await canSignIn(user, { guard })) === true ? 'good' : 'refused';
  }
}
