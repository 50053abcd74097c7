import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { Grants } from '../abilities/grants';
import { type ClientInfo, clip } from '../http/client-info';
import type { SessionTokens } from '../http/session-tokens';
import { cleanUp } from '../kernel/clean-up';
import type { Sql } from '../kernel/database';
import { newSecret, sha256 } from '../kernel/secrets';
import { canonicalId, isUuid } from '../kernel/uuid';
import { Realm } from '../realm/realm';
import { AccessTokens } from '../tokens/access-tokens';
import { Denylist } from '../tokens/denylist';
import { UserProvider } from '../users/user-provider';
import { type Grounds, SessionGrounds } from './session-grounds';
import { type NewSession, type Selection, SessionStore } from './session.store';
import { TokenClaims } from './token-claims';

/** Longest name of a session in characters. */
const LABEL_MAX = 255;

/** How a session starts. */
export interface SessionStart {
  userId: string;
  /** Extra claims of the first access token. */
  claims?: object;
  /** An explicit list pins the session to it for ever, an empty one to nothing; absent derives at each mint. */
  abilities?: Iterable<string>;
  /** How the user authenticated (RFC 8176): `['pwd']`, `['webauthn']`. */
  amr?: readonly string[];
  /** Unix seconds of that authentication; now by default. */
  authTime?: number;
  client?: ClientInfo;
  /** A name for the session in lists, of at most 255 characters; what is longer is cut off. */
  label?: string;
}

/** Starts and ends the realm's sessions. */
@Injectable()
export class Sessions {
  constructor(
    private readonly store: SessionStore,
    private readonly grants: Grants,
    private readonly tokenClaims: TokenClaims,
    private readonly accessTokens: AccessTokens,
    private readonly denylist: Denylist,
    private readonly sessionGrounds: SessionGrounds,
    private readonly users: UserProvider,
    private readonly realm: Realm,
  ) {}

  /**
   * The tokens of a new session; null where its user is gone by the time it is stored, or its grounds are. No row
   * is left then, and none where it throws.
   *
   * @throws AuthConfigError for abilities that are none; whatever a hook throws; StoreUnavailable
   */
  async start(
    { userId, claims = {}, abilities, amr = [], authTime, client, label }: SessionStart,
    grounds?: Grounds,
  ): Promise<SessionTokens | null> {
    const [familyId, refreshToken] = [randomUUID(), newSecret()];
    const pinned = this.grants.pin(abilities);
    const granted = await this.grants.granted(pinned, userId, familyId);
    const custom = { ...(await this.tokenClaims.of(userId, familyId)), ...claims };

    const session = {
      familyId,
      userId,
      tokenHash: sha256(refreshToken),
      scope: pinned,
      amr,
      authTime: authTime ?? null,
      ip: client?.ip ?? null,
      userAgent: client?.userAgent ?? null,
      label: clip(label, LABEL_MAX),
    };
    const accessToken = await this.store.insert(session, (started) =>
      this.accessTokens.mint({ userId, familyId, amr, authTime: started, custom, ...granted }),
    );
    if (!(await this.isGrounded(session, grounds))) return null;
    const { refreshTtl: refreshExpiresIn } = this.realm.options;
    return { accessToken, refreshToken, expiresIn: this.accessTokens.ttl, refreshExpiresIn };
  }

  private async isGrounded({ familyId, userId }: NewSession, grounds?: Grounds): Promise<boolean> {
    // Nobody was given its tokens, so there is nothing to deny, and no replay to recognise.
    const discard = (): Promise<void> => this.store.discard(familyId);
    try {
      const hold = await this.sessionGrounds.hold(userId, grounds);
      if (!hold) await discard();
      return hold;
    } catch (error) {
      await cleanUp('discarding a session', discard());
      throw error;
    }
  }

  /** Ends one session. A family id of a co-issuer that has no session here is denied all the same. */
  async revoke(familyId: string): Promise<void> {
    await this.end({ familyId });
  }

  /** Ends every session of the user on this guard; with `sql`, in a transaction of the caller's. */
  async revokeAll(userId: string, sql?: Sql): Promise<void> {
    await this.end({ userId }, sql);
  }

  /** Whether a session was not ended. Nothing is known of a co-issuer's, nor of a token that names none: they were not. */
  async isAlive(familyId: string | null, sql?: Sql): Promise<boolean> {
    return familyId === null || !(await this.store.hasEnded(familyId, sql));
  }

  /** The same, and resolves to the sessions that were alive: of two at once, one ends them. */
  endAll(userId: string): Promise<string[]> {
    return this.end({ userId });
  }

  /** Deletes every session of the user on this guard, in a transaction of the caller's, and resolves to their ids. */
  erase(sql: Sql, userId: string): Promise<string[]> {
    return this.store.erase(sql, userId, this.denylist.lifetime, (ids) => this.denylist.denyFamilies(ids));
  }

  /** Ends every session of the user on this guard but one. */
  async revokeOthers(userId: string, familyId: string): Promise<void> {
    // A session that a co-issuer named is none of those stored here.
    await this.end({ userId, except: isUuid(familyId) ? canonicalId(familyId) : undefined });
  }

  private async end(which: Selection, sql?: Sql): Promise<string[]> {
    const ended = await this.store.revoke(which, this.denylist.lifetime, (ids) => this.denylist.denyFamilies(ids), sql);
    for (const { userId } of ended) this.users.forget(userId);
    return ended.map(({ id }) => id);
  }
}
