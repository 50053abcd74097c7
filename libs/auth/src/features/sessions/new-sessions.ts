import { Injectable } from '@nestjs/common';
import { randomBytes, randomUUID } from 'node:crypto';
import { bestEffort, isInconclusive, outerTransaction } from '../../foundation/platform/deadline';
import { AuthConfigError } from '../../foundation/platform/errors';
import { Realm, RealmScope } from '../../foundation/realm/realm';
import { AccessTokens, SignInRefused, TokenClaims } from '../../identity/tokens/access-tokens';
import { AbilityResolver } from '../../request/abilities/granted-scope';
import { type ClientInfo, clientInfo, clip } from '../../request/http/client-info';
import type { SessionTokens } from '../../request/http/route-answer';
import { RefreshTokens } from '../../identity/tokens/refresh-tokens';
import { TokenBindings } from '../../identity/tokens/caller';
import { type SessionLifeRequest, idleTimeoutOf, sessionLife } from './rotation.policy';
import type { SessionOrigin, SignInOrigin } from './session.entity';
import { SessionStore } from './session.store';
import { Sessions } from './sessions';

/** Maximum length of a session label in characters. */
const LABEL_MAX = 255;

const SALT_BYTES = 32;

/** Describes the session to start. */
export interface SessionStart extends SessionLifeRequest {
  userId: string;
  /** Extra claims of the first access token. */
  claims?: object;
  /** Pins the abilities of the session permanently; an empty list grants nothing. If omitted, they are derived each time. */
  abilities?: Iterable<string>;
  /** The authentication methods of the user (RFC 8176): `['pwd']`, `['webauthn']`. Ignored with an `act` claim. */
  amr?: readonly string[];
  /** Time of the authentication in unix seconds; now by default. */
  authTime?: number;
  client?: ClientInfo;
  /** The request of a sign-in: its device may be recorded, and its client is the default of `client`. */
  request?: object;
  /** The request that proves a key to which the session is bound; {@link request} by default. */
  sender?: object;
  /** Name of the session in lists. Cut after 255 characters. */
  label?: string;
  /** The id of the credential that signed in, alone or as the second factor. Its removal ends the session. */
  credentialId?: string;
  /** The account elsewhere with which the user signed in. Its removal, or the end of the session there, ends the session. */
  origin?: SignInOrigin;
}

/** A session that was stored. Its tokens are not sent yet. */
export interface StoredSession {
  readonly userId: string;
  readonly familyId: string;
  readonly client: ClientInfo;
  /** The request of the device; undefined for a session that is not a sign-in, which has no device. */
  readonly request: object | undefined;
  readonly amr: readonly string[];
  readonly isPinned: boolean;
  /** The account elsewhere with which the user signed in. */
  readonly origin: SessionOrigin | null;
  /** The thumbprint of the key to which it is bound; null for none. */
  readonly jkt: string | null;
}

/** Decides whether the tokens of a stored session are sent. */
export interface SessionAdmission {
  isValid(session: StoredSession): Promise<boolean>;
  /** Called for a valid session. Returns what is sent with the tokens. */
  stored(session: StoredSession): Promise<Partial<SessionTokens>>;
}

/** Stores new sessions and issues their tokens. */
@Injectable()
export class NewSessions {
  constructor(
    private readonly store: SessionStore,
    private readonly sessions: Sessions,
    private readonly abilityResolver: AbilityResolver,
    private readonly tokenClaims: TokenClaims,
    private readonly accessTokens: AccessTokens,
    private readonly refreshTokens: RefreshTokens,
    private readonly bindings: TokenBindings,
    private readonly realm: Realm,
    private readonly scope: RealmScope,
  ) {}

  /**
   * Starts a session and returns its tokens; null if it is not valid. No row remains in that case, nor after an error. Called by
   * `SignIn` only, which makes the checks.
   *
   * @throws AuthConfigError for an invalid list of abilities or an invalid life; every error of a hook; StoreUnavailable
   */
  async start(start: SessionStart, admission: SessionAdmission): Promise<SessionTokens | null> {
    const { userId, claims = {}, abilities, amr: given = [], authTime, request, client: sent, label, ...rest } = start;
    const { credentialId = null, origin = null, sender = request, ...asked } = rest;
    const life = sessionLife(asked, this.realm.options);
    if (typeof life === 'string') throw new AuthConfigError(life);
    const jkt = await this.bindings.keyOf(sender);
    // Where another party acts for the user (RFC 8693 §4.1), the user has not authenticated.
    const amr = claims !== null && 'act' in claims ? [] : given;
    const [familyId, salt] = [randomUUID(), randomBytes(SALT_BYTES)];
    const refreshToken = this.refreshTokens.mint(familyId, 0, salt);
    const pinned = this.abilityResolver.pin(abilities);
    const granted = await this.abilityResolver.resolve(pinned, userId, familyId);
    const custom = await this.tokenClaims.claimsFor(userId, familyId, claims);

    const { ip = null, userAgent = null } = sent ?? (request ? clientInfo(request) : {});
    const client = { ip, userAgent };
    const session = {
      familyId,
      userId,
      salt,
      scope: pinned,
      amr,
      authTime: authTime ?? null,
      ...client,
      label: clip(label, LABEL_MAX),
      credentialId,
      origin,
      jkt,
      life,
    };
    const besides = this.scope.hooks('sessionStart').map((store) => store(this.scope, session));
    const accessToken = await this.store
      .insert(session, besides)
      .then((since) =>
        this.accessTokens.mint({ userId, familyId, amr, authTime: since, custom, jkt, ttl: life.ttl, ...granted }),
      )
      .catch(async (error: unknown) => {
        // The statement may have been committed without an answer.
        await this.undo(familyId);
        throw error;
      });
    const stored = { userId, familyId, client, request, amr, isPinned: pinned !== null, origin, jkt };
    const added = await this.admit(stored, admission);
    if (!added) return null;
    const { ttl, remembered } = life;
    const idle = idleTimeoutOf(this.realm.options.sessions.idleTimeout, life.idleTimeout);
    const refreshExpiresIn = Math.min(ttl, idle ?? ttl);
    const expiresIn = Math.min(ttl, this.accessTokens.ttl);
    const tokenType = this.bindings.typeOf(jkt);
    return { ...added, userId, accessToken, tokenType, refreshToken, expiresIn, refreshExpiresIn, remembered };
  }

  /** Checks a stored session, and ends the sessions that exceed the cap. Null if it is not valid; it is discarded then. */
  private async admit(session: StoredSession, admission: SessionAdmission): Promise<Partial<SessionTokens> | null> {
    const { userId, familyId } = session;
    const isCapped = !session.isPinned && this.realm.options.sessions.maxPerUser > 0;
    const outer = outerTransaction();
    try {
      const [isValid, isOver] = await Promise.all([
        admission.isValid(session),
        isCapped && !outer && this.store.isOverCap(userId),
      ]);
      if (isValid && outer) {
        outer.started.push(familyId);
        // Without a row, nothing else would refuse its access token, and nothing could end it.
        await outer.after(
          'the end of a session that was rolled back',
          () => this.sessions.end(familyId, 'revoked'),
          true,
        );
        await outer.after('the check of a started session', () => this.confirm(session, admission));
        return {};
      }
      if (isValid) {
        if (isOver) await this.sessions.endSurplus(userId, familyId);
        return await admission.stored(session);
      }
      await this.discard(familyId);
      return null;
    } catch (error) {
      await this.undo(familyId);
      throw error;
    }
  }

  /** Discards a session after an error; in a transaction of the host as a part of it. */
  private async undo(familyId: string): Promise<void> {
    if (outerTransaction()) await this.discard(familyId).catch(() => undefined);
    else await bestEffort('discarding a session', () => this.discard(familyId));
  }

  /** The tokens were not sent to any client, so no denylist entry is needed, and no replay is possible. */
  private discard(familyId: string): Promise<void> {
    return this.store.discard(familyId, (sql, ended) => this.sessions.noteEnds(sql, ended, 'discarded'));
  }

  /**
   * Checks a session again after the commit of the transaction of the host that has stored it: until then, no other transaction saw
   * it, so a deletion or suspension of its user did not end it, and no other sign-in counted it.
   */
  private async confirm(session: StoredSession, admission: SessionAdmission): Promise<void> {
    const { userId, familyId } = session;
    const isValid = await admission.isValid(session).catch((error: unknown) => {
      // A refusal is conclusive here: the session exists, and no client tries again.
      if (isInconclusive(error) && !(error instanceof SignInRefused)) throw error;
      return false;
    });
    if (!isValid) return void (await this.sessions.end(familyId, 'revoked'));
    const isCapped = !session.isPinned && this.realm.options.sessions.maxPerUser > 0;
    if (isCapped && (await this.store.isOverCap(userId))) await this.sessions.endSurplus(userId, familyId);
    await admission.stored(session);
  }
}
