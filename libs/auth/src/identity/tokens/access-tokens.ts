import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { Clock } from '../../foundation/platform/clock';
import { Realm } from '../../foundation/realm/realm';
import { longestLife } from '../denylist/denylist';
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

/** What an access token is minted from. Everything is decided already; minting is pure crypto. */
export interface Mintable {
  userId: string;
  familyId: string;
  /** How the user authenticated (RFC 8176); the claim is left out when empty. */
  amr: readonly string[];
  /** Unix seconds of that authentication. */
  authTime: number;
  /** Claims of hooks and of the login. */
  custom: object;
  /** Space-delimited abilities; undefined where abilities are unused. */
  scope: string | undefined;
  pinned: boolean;
}

/** Issues and verifies the realm's access tokens (RFC 9068). Stamps what it is given, derives nothing. */
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

  /** Seconds a token lives: `expires_in`. */
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

  /** What {@link read} has to wait for; undefined where that is nothing. @throws StoreUnavailable */
  prepare(token: string): Promise<void> | undefined {
    return prepareKey(this.keyring, token);
  }

  /** The claims of a token of this realm that is current; for everything else why it is none. Reads no store. */
  read(token: string): AccessClaims | 'invalid_token' | 'expired_token' {
    const jws = verifyJws(this.keyring, token);
    if (!jws) return 'invalid_token';
    const expired = isOver(jws.claims, this.realm.options.leeway, this.clock.seconds());
    return this.judge(jws) ?? (expired ? 'expired_token' : 'invalid_token');
  }

  /** Judges a token whose signature is verified already. */
  judge({ header, claims }: VerifiedJws): AccessClaims | null {
    return isAccessToken(header, claims, this.expected, this.clock.seconds()) ? claims : null;
  }
}

/** The host's extra claims of an access token. */
@Injectable()
export class TokenClaims {
  constructor(private readonly realm: Realm) {}

  /** What `hooks.tokenClaims` returns; no claims where it returns no object. @throws whatever it throws */
  async claimsFor(userId: string, familyId: string): Promise<object> {
    const { guard, options } = this.realm;
    const claims = await options.hooks.tokenClaims?.(userId, { guard, userId, familyId });
    return typeof claims === 'object' && claims !== null && !Array.isArray(claims) ? claims : {};
  }
}
