import { Injectable } from '@nestjs/common';
import { randomBytes, randomUUID } from 'node:crypto';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { type Sql, canonicalId, isUuid } from '../../foundation/platform/database';
import { RequestScope, bestEffort } from '../../foundation/platform/deadline';
import { StoreUnavailable, AuthException } from '../../foundation/platform/errors';
import { Realm } from '../../foundation/realm/realm';
import { Denylist } from '../../identity/denylist/denylist';
import { AccessTokens, TokenClaims } from '../../identity/tokens/access-tokens';
import { AbilityResolver } from '../../request/abilities/granted-scope';
import { type ClientInfo, clip } from '../../request/throttling/clients';
import type { SessionTokens } from '../../request/http/route.interceptor';
import { RefreshTokens } from './refresh-tokens';
import { type EndedPage, type EndedRow, type PageStart, SessionStore } from './session.store';
import { type SessionEndReason, SessionEnded, SessionStarted } from './sessions.events';
import { TimedUserProvider } from '../../identity/users/timed-user-provider';

/** Whether what a session is granted for still holds, given the password hash that is stored now. */
export type PasswordHashCheck = (passwordHash: string | null) => boolean | Promise<boolean>;

/**
 * Asks of a session that was just stored whether it may go out.
 *
 * Between a right password and the session that it opens, the password may be replaced or the user deleted, and all
 * sessions ended. Whoever does that stores first and sweeps then; a session is stored first and looked into then.
 * So the sweep meets the session, or this look meets what was stored, whatever the order.
 */
@Injectable()
export class SessionPrecondition {
  constructor(private readonly users: TimedUserProvider) {}

  /** @param passwordHashCheck left out where the user's being there is enough */
  async stillValid(userId: string, passwordHashCheck?: PasswordHashCheck): Promise<boolean> {
    const digest = passwordHashCheck ? await this.users.passwordHashOf(userId) : null;
    if (passwordHashCheck && !(await passwordHashCheck(digest))) return false;
    // Who has a password hash is there.
    return digest !== null || (await this.users.findById(userId)) !== null;
  }
}

/** Longest name of a session in characters. */
const LABEL_MAX = 255;

const SALT_BYTES = 32;

/**
 * Milliseconds for which one request ends pages of sessions. Each page is committed: a request that runs out of time is
 * answered 503, and its repetition goes on with the sessions that are left.
 */
const ENDING_MS = 10_000;

/** Denies the access tokens of sessions, before their end commits. */
type Deny = (familyIds: string[]) => Promise<void>;

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
    private readonly abilityResolver: AbilityResolver,
    private readonly tokenClaims: TokenClaims,
    private readonly accessTokens: AccessTokens,
    private readonly refreshTokens: RefreshTokens,
    private readonly denylist: Denylist,
    private readonly sessionPrecondition: SessionPrecondition,
    private readonly events: AuthEvents,
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
    passwordHashCheck?: PasswordHashCheck,
  ): Promise<SessionTokens | null> {
    const [familyId, salt] = [randomUUID(), randomBytes(SALT_BYTES)];
    const refreshToken = this.refreshTokens.mint(familyId, 0, salt);
    const pinned = this.abilityResolver.pin(abilities);
    const granted = await this.abilityResolver.resolve(pinned, userId, familyId);
    const custom = { ...(await this.tokenClaims.claimsFor(userId, familyId)), ...claims };

    const { ip = null, userAgent = null } = client ?? {};
    let isStored = false;
    const started = this.ending('cap', async (deny) => {
      const { minted, ended } = await this.store.insert(
        {
          familyId,
          userId,
          salt,
          scope: pinned,
          amr,
          authTime: authTime ?? null,
          ip,
          userAgent,
          label: clip(label, LABEL_MAX),
        },
        (since) => this.accessTokens.mint({ userId, familyId, amr, authTime: since, custom, ...granted }),
        deny,
      );
      isStored = true;
      return { result: minted, ended };
    });
    const accessToken = await started.catch(async (error: unknown) => {
      if (isStored) await bestEffort('discarding a session', this.store.discard(familyId));
      throw error;
    });
    if (!(await this.isGrounded(familyId, userId, passwordHashCheck))) return null;
    this.events.emit(new SessionStarted(this.realm.guard, userId, familyId, { ip, userAgent }, [...amr]));
    const { refreshTtl: refreshExpiresIn } = this.realm.options;
    return { accessToken, refreshToken, expiresIn: this.accessTokens.ttl, refreshExpiresIn };
  }

  private async isGrounded(familyId: string, userId: string, passwordHashCheck?: PasswordHashCheck): Promise<boolean> {
    // Nobody was given its tokens, so there is nothing to deny, and no replay to recognise.
    const discard = (): Promise<void> => this.store.discard(familyId);
    try {
      const hold = await this.sessionPrecondition.stillValid(userId, passwordHashCheck);
      if (!hold) await discard();
      return hold;
    } catch (error) {
      await bestEffort('discarding a session', discard());
      throw error;
    }
  }

  /**
   * Ends one session. The session of a co-issuer, which has no row here, is denied all the same.
   *
   * @returns whether this call ended it: of many at once, one does
   */
  async end(familyId: string, reason: SessionEndReason): Promise<boolean> {
    return this.ending(reason, async (deny) => {
      const row = await this.store.end(canonicalId(familyId), deny);
      return { result: row !== null, ended: row && row !== 'foreign' ? [row] : [] };
    });
  }

  /**
   * Ends every session of the user on this guard, in committed pages, the newest first.
   *
   * @param own the session that asks, which ends last: its bearer can repeat a request that was answered 503
   * @returns whether this call ended that session, and whether it is of this table or of a co-issuer; null where another
   * call did. Of two that ask at once for few sessions, one does
   * @throws StoreUnavailable; what ended until then stays ended
   */
  async endAll(userId: string, reason: SessionEndReason, own: string | null = null): Promise<'own' | 'foreign' | null> {
    const last = own !== null && isUuid(own) ? canonicalId(own) : undefined;
    let isEnded = false;
    await this.inPages(reason, async (start, deny) => {
      const page = await this.store.endPage({ userId, own: last }, start, deny);
      isEnded ||= page.ended.some(({ id }) => id === last);
      return page;
    });
    // The session of a co-issuer has no row here.
    if (isEnded) return 'own';
    return own !== null && (await this.end(own, reason)) ? 'foreign' : null;
  }

  /** Ends every session of the user on this guard but one. @throws StoreUnavailable as {@link endAll} */
  async endOthers(userId: string, familyId: string, reason: SessionEndReason = 'others'): Promise<void> {
    // A session that a co-issuer named is none of those stored here.
    const except = isUuid(familyId) ? canonicalId(familyId) : undefined;
    await this.inPages(reason, (start, deny) => this.store.endPage({ userId, except }, start, deny));
  }

  /**
   * Ends every session of the user on this guard, and removes all personal data from their rows. In pages.
   *
   * @param until an ended session: its row and those of sessions that ended later stay as they are
   */
  async eraseAll(userId: string, until: string | null = null): Promise<void> {
    const page = (_: unknown, deny: Deny) => this.store.erasePage(userId, until, deny);
    // For as long as it takes: the session that asked has ended, so its bearer cannot repeat the request.
    await this.inPages('erased', page, Infinity);
  }

  /** Removes all personal data from the rows of sessions that have ended, as part of a transaction. */
  eraseEnded(userId: string, sql: Sql): Promise<void> {
    return this.store.eraseEnded(userId, sql);
  }

  /** Whether a session is still known as the user's: not after an erasure. */
  belongsTo(userId: string, familyId: string, sql: Sql): Promise<boolean> {
    return this.store.belongsTo(userId, familyId, sql);
  }

  /** Whether a session was not ended. Nothing is known of a co-issuer's, nor of a token that names none: they were not. */
  async isAlive(familyId: string | null, sql?: Sql): Promise<boolean> {
    return familyId === null || !(await this.store.hasEnded(familyId, sql));
  }

  private async inPages(
    reason: SessionEndReason,
    page: (start: PageStart | null, deny: Deny) => Promise<EndedPage>,
    ms = ENDING_MS,
  ): Promise<void> {
    const end = performance.now() + ms;
    let start: PageStart | null = null;
    do {
      if (performance.now() > end) throw new StoreUnavailable('PostgreSQL');
      const from: PageStart | null = start;
      const ending = (): Promise<PageStart | null> =>
        this.ending(reason, async (deny) => {
          const { ended, next } = await page(from, deny);
          return { result: next, ended };
        });
      // The first page waits as long as the request may; each further one has a store's time of its own.
      start = await (from === null ? ending() : RequestScope.detached(ending));
    } while (start !== null);
  }

  /**
   * Runs work that ends sessions. Access tokens are denied before the commit, so that a failure leaves all as it was,
   * and checked after it: a store that lost data in between is told again. Then the host is told.
   */
  private async ending<T>(
    reason: SessionEndReason,
    work: (deny: Deny) => Promise<{ result: T; ended: readonly EndedRow[] }>,
  ): Promise<T> {
    let confirm: (() => Promise<void>) | undefined;
    const { result, ended } = await work(async (familyIds) => {
      confirm = familyIds.length ? await this.denylist.deny(familyIds) : undefined;
    });
    for (const row of ended) this.emitEnded(row, reason);
    await confirm?.();
    return result;
  }

  /** Tells the host that a session has ended. */
  emitEnded({ id, userId, ip, userAgent, amr }: EndedRow, reason: SessionEndReason): void {
    this.events.emit(new SessionEnded(this.realm.guard, userId, id, { ip, userAgent }, amr, reason));
  }
}

/** The refresh token is unknown, expired, revoked or reused: 401, and the client is not told which. */
export class InvalidRefreshToken extends AuthException {
  constructor() {
    super('invalid_refresh_token', { status: 401, text: { key: 'auth.refresh_failed' } });
  }
}

/** The caller has no session of this id: 404, the same for one that is somebody else's. */
export class SessionNotFound extends AuthException {
  constructor() {
    super('no_such_session', { status: 404, text: { key: 'auth.not_found' } });
  }
}
