import { Injectable, Logger } from '@nestjs/common';
import { AbilityResolver } from '../../request/abilities/granted-scope';
import type { SessionTokens } from '../../request/http/route-answer';
import type { RateLimits } from '../../foundation/config/auth-config';
import type { RateLimit } from '../../foundation/config/auth-options';
import type { WithDefaults } from '../../foundation/config/option-table';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { Clock } from '../../foundation/platform/clock';
import { RequestScope } from '../../foundation/platform/deadline';
import { StoreUnavailable } from '../../foundation/platform/errors';
import type { Reason } from '../../foundation/platform/catalogue';
import { Realm } from '../../foundation/realm/realm';
import { SecurityStore } from '../../foundation/security-store/security-store';
import { Clients } from '../../request/http/client-info';
import { limit, requireAdmitted } from '../../request/throttling/limiters';
import { AccessTokens, AccountStandings, TokenClaims } from '../../identity/tokens/access-tokens';
import { Denylist } from '../../identity/denylist/denylist';
import { type Holding, TokenBindings } from '../../identity/tokens/caller';
import { UnfinishedEnds } from '../../identity/denylist/ended-sessions';
import { Sessions } from './sessions';
import { InvalidRefreshToken } from './sessions.errors';
import { RefreshFamilyForked, RefreshTokenReused, SessionRecovered } from './sessions.events';
import { type ParsedRefreshToken, RefreshTokens, parseRefreshToken } from '../../identity/tokens/refresh-tokens';
import {
  type RefreshVerdict,
  type RepetitionTimes,
  crossesForkThreshold,
  endOfSession,
  endsSession,
  refreshVerdict,
} from './rotation.policy';
import type { FoundSession } from './session.entity';
import { SessionStore } from './session.store';

type Accepted = 'current' | 'replay' | 'late' | 'ahead';

/** The reasons of a refusal in the security log. The client gets the same response for all of them. */
const REASONS: Readonly<Record<Exclude<RefreshVerdict, Accepted>, Reason>> = {
  unknown: 'unknown_token',
  revoked: 'revoked_token',
  expired: 'expired_token',
  idle: 'idle_session',
  reuse: 'reused_token',
};

/**
 * Maximum number of attempts to read and judge a session. A further attempt is needed when another request has changed the
 * session in between. After the last one, the client gets 503.
 */
const ATTEMPTS = 10;

/** The abilities and claims that the host adds to the next access token. */
type Additions = Awaited<ReturnType<AbilityResolver['resolve']>> & { custom: object };

const NO_ADDITIONS: Additions = { scope: undefined, pinned: false, custom: {} };

/** What one address may send for each request of one session, with `rateLimits.refresh.by: 'session'`. */
const SESSIONS_OF_ADDRESS = 100;

/** The limit of all refreshes of one address. Pure. */
export const refreshRateOfAddress = ({
  refresh: { maxAttempts, decaySeconds, by },
}: RateLimits): WithDefaults<RateLimit> => ({
  maxAttempts: by === 'session' ? SESSIONS_OF_ADDRESS * maxAttempts : maxAttempts,
  decaySeconds,
});

/** Counts refreshes by session, after the MAC of the token was verified: otherwise a stranger could use up the limit of a session. */
@Injectable()
export class RefreshLimits {
  constructor(
    private readonly realm: Realm,
    private readonly clients: Clients,
    private readonly store: SecurityStore,
    private readonly clock: Clock,
  ) {}

  get isOn(): boolean {
    return this.realm.options.rateLimits.refresh.by === 'session';
  }

  /**
   * @param familyId the session of the token; null for a token that this server did not make, which counts for the address
   * @throws TooManyRequests, StoreUnavailable
   */
  async count(familyId: string | null, request: object): Promise<void> {
    const { maxAttempts, decaySeconds } = this.realm.options.rateLimits.refresh;
    const of = familyId === null ? `ip|${this.clients.addressOf(request)}` : `session|${familyId}`;
    const limits = [limit('refresh', { key: `${this.realm.guard}|${of}`, maxAttempts, decaySeconds })];
    requireAdmitted(limits, await this.store.count(limits), this.clock.seconds());
  }
}

/** Exchanges a refresh token for its successor, according to the decision of {@link refreshVerdict}. */
@Injectable()
export class RefreshRotation {
  private readonly logger = new Logger('Auth');

  constructor(
    private readonly store: SessionStore,
    private readonly refreshTokens: RefreshTokens,
    private readonly abilityResolver: AbilityResolver,
    private readonly tokenClaims: TokenClaims,
    private readonly accessTokens: AccessTokens,
    private readonly denylist: Denylist,
    private readonly unfinishedEnds: UnfinishedEnds,
    private readonly sessions: Sessions,
    private readonly standings: AccountStandings,
    private readonly events: AuthEvents,
    private readonly bindings: TokenBindings,
    private readonly limits: RefreshLimits,
    private readonly realm: Realm,
  ) {}

  /**
   * @param request whose client is limited
   * @throws InvalidRefreshToken for every refusal; TooManyRequests. After any other error, nothing was consumed
   */
  async rotate(refreshToken: string, request: object): Promise<SessionTokens> {
    const presented = parseRefreshToken(refreshToken);
    if (!presented && this.limits.isOn) await this.limits.count(null, request);
    if (!presented) throw new InvalidRefreshToken().withReason(refreshToken ? 'unknown_token' : 'missing_token');
    const { familyId, generation } = presented;
    let [additions, since]: [Additions | undefined, number | undefined] = [undefined, undefined];
    let isDenied = false;
    const scope = RequestScope.of(request);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const isFirstTry = attempt === 0;
      const within = <T>(work: () => Promise<T>): Promise<T> => (isFirstTry ? scope.beside(work) : scope.run(work));
      // The session is read again at each attempt. The denylist is read once: the statement detects a later end.
      const [session, denied] = await within(() =>
        Promise.all([this.sessionOf(presented), isFirstTry && this.denylist.deniesFamily(familyId)]),
      );
      // Before the verdict and the limit of the session: a thief without the key must neither end the session nor close its limit.
      const isHeld =
        !session || this.bindings.isHeldByAll(session) || (await within(() => this.isHeld(session, request)));
      if (isFirstTry && this.limits.isOn)
        await within(() => this.limits.count(isHeld === true && session ? familyId : null, request));
      if (isHeld !== true) throw (isHeld || new InvalidRefreshToken()).withReason('unproved_key', session?.userId);
      isDenied ||= denied;
      // Judged at the time of the first read, so slow callbacks of the host cannot turn a replay into a reuse.
      since ??= session?.now;
      const verdict = refreshVerdict(session && { ...session, now: since! }, generation, this.repetitionTimes);
      if (!session || !isAccepted(verdict)) {
        const refusal = await scope.run(() => this.refusal(session, verdict as keyof typeof REASONS));
        if (refusal) throw refusal;
        since = undefined;
        continue;
      }
      if (isDenied) {
        // The denylist contains the end of the session, but the row does not: it was not written, or was lost.
        await scope.run(() => this.unfinishedEnds.finish(session.userId, familyId));
        throw new InvalidRefreshToken().withReason('revoked_token', session.userId);
      }
      // Callbacks of the host run before any change: a slow or failing callback holds no lock and consumes nothing.
      const isPlain = isFirstTry && this.asksNobody(session);
      additions ??= isPlain ? NO_ADDITIONS : await scope.run(() => this.additions(session));
      const granted = additions;
      const exchange = () => this.exchange(session, generation, { verdict, isFirstTry }, granted);
      const tokens = await (isPlain ? scope.beside(exchange) : scope.run(exchange));
      if (tokens) return tokens;
    }
    throw new StoreUnavailable('PostgreSQL');
  }

  /** Whether a text is a refresh token of a session that the sender holds, of any generation. It is not used up. */
  async isOfSession(refreshToken: string, familyId: string, request: object): Promise<boolean> {
    const presented = parseRefreshToken(refreshToken);
    const session = presented?.familyId === familyId ? await this.sessionOf(presented) : null;
    return session !== null && (await this.isHeld(session, request)) === true;
  }

  /** See `TokenBindings.isHolder`. The end of a session needs no key: it is over for every sender. */
  private async isHeld(session: FoundSession, request: object): Promise<Holding> {
    return session.revokedAt !== null || this.bindings.isHolder(request, session);
  }

  /**
   * The user of the live session of a refresh token, which is not used up. Null for any other text, and for a session with a
   * pinned list of abilities, or bound to a key that the request does not prove.
   */
  async ownerOf(refreshToken: string, request: object): Promise<string | null> {
    const session = await this.liveSessionOf(refreshToken);
    if (!session || session.scope !== null || (await this.bindings.isHolder(request, session)) !== true) return null;
    return session.userId;
  }

  /** The live session of a refresh token, which is not used up; null for any other text. Its sender may not be the holder. */
  async liveSessionOf(refreshToken: string): Promise<FoundSession | null> {
    const presented = parseRefreshToken(refreshToken);
    const session = presented && (await this.sessionOf(presented));
    if (!session) return null;
    const verdict = refreshVerdict(session, presented.generation, this.repetitionTimes);
    return isAccepted(verdict) && !(await this.denylist.deniesFamily(session.familyId)) ? session : null;
  }

  private get repetitionTimes(): RepetitionTimes {
    const { graceSeconds, sessions } = this.realm.options;
    return { graceSeconds, unusedSuccessorSeconds: sessions.unusedSuccessorSeconds };
  }

  /** Returns the session of a token that this server made; null for every other token. */
  private async sessionOf(presented: ParsedRefreshToken): Promise<FoundSession | null> {
    const session = await this.store.find(presented.familyId);
    return session && this.refreshTokens.isGenuine(presented, session.salt) ? session : null;
  }

  /** Returns the new tokens; null, without any change, if the session has changed since it was read. */
  private async exchange(
    session: FoundSession,
    generation: number,
    { verdict, isFirstTry }: { verdict: Accepted; isFirstTry: boolean },
    additions: Additions,
  ): Promise<SessionTokens | null> {
    const isRepeated = verdict === 'replay' || verdict === 'late';
    const rotates = !isRepeated && this.realm.options.features.rotation;
    const current = isRepeated ? session.generation : generation + (rotates ? 1 : 0);
    // Issued before any change: a failure here consumes nothing.
    const tokens = this.tokens(session, current, additions);
    if (rotates) {
      // The first attempt does not wait for a session that another request has locked; later attempts do.
      if (!(await this.store.rotate(session, generation, isFirstTry))) return null;
      if (verdict === 'ahead') this.reportRecovery(session, generation);
      return tokens;
    }
    const isLate = verdict === 'late';
    const holders = await this.store.countHolder(session, isRepeated ? 1 : 0, isLate);
    if (holders === null) return null;
    if (isLate || (isRepeated && crossesForkThreshold(holders, this.realm.options.forkThreshold)))
      this.events.emit(new RefreshFamilyForked(session.userId, session.familyId, holders, this.realm.guard));
    return tokens;
  }

  /** Ends the session of a user that does not exist any more or may not sign in. @throws InvalidRefreshToken */
  private async requireGoodStanding({ userId, familyId, hasUser }: FoundSession): Promise<void> {
    // The statement of the session only confirms that the user exists. Otherwise the user is read.
    const standing = await this.standings.of(userId, hasUser === true);
    if (standing === 'good') return;
    await this.sessions.end(familyId, 'disabled');
    const reason = standing === 'missing' ? 'unknown_user' : 'sign_in_refused';
    throw new InvalidRefreshToken().withReason(reason, userId);
  }

  /** Whether the statement of the session has told everything: that the user exists, and may sign in. */
  private asksNobody({ hasUser, scope }: FoundSession): boolean {
    const isPlain = hasUser === true && scope === null && !this.realm.abilitiesInUse;
    return isPlain && !this.realm.options.hooks.tokenClaims && !this.standings.mayRefuse;
  }

  private async additions(session: FoundSession): Promise<Additions> {
    await this.requireGoodStanding(session);
    const { scope, userId, familyId } = session;
    const granted = await this.abilityResolver.resolve(scope, userId, familyId);
    return { ...granted, custom: await this.tokenClaims.claimsFor(userId, familyId) };
  }

  private tokens(session: FoundSession, generation: number, additions: Additions): SessionTokens {
    const { userId, familyId, salt, amr, jkt, remembered, now } = session;
    const authTime = Math.floor(session.authTime);
    return {
      userId,
      accessToken: this.accessTokens.mint({ userId, familyId, amr, authTime, jkt, ...additions }),
      tokenType: this.bindings.typeOf(jkt),
      refreshToken: this.refreshTokens.mint(familyId, generation, salt),
      expiresIn: this.accessTokens.ttl,
      // The refresh is a use: the idle time begins again.
      refreshExpiresIn: Math.max(0, Math.floor(endOfSession({ ...session, lastUsedAt: now }).at - now)),
      remembered,
    };
  }

  private reportRecovery({ userId, familyId, generation }: FoundSession, presented: number): void {
    const lost = presented - generation;
    this.logger.warn(`PostgreSQL had lost ${lost} rotations of a session. It continues from the token of its client.`);
    this.events.emit(new SessionRecovered(this.realm.guard, userId, familyId, lost));
  }

  /** Null for a session that another request has used in its last moment, or has ended: it is judged again. */
  private async refusal(
    session: FoundSession | null,
    verdict: keyof typeof REASONS,
  ): Promise<InvalidRefreshToken | null> {
    if (session && endsSession(verdict, this.realm.options.features.reuseDetection)) {
      const isEnded = await this.sessions.end(session.familyId, 'reuse');
      if (isEnded) this.events.emit(new RefreshTokenReused(session.familyId, this.realm.guard));
    }
    // The session is over already. This emits the event once, and denies its last access tokens.
    if (
      session &&
      (verdict === 'expired' || verdict === 'idle') &&
      !(await this.sessions.end(session.familyId, verdict))
    )
      return null;
    return new InvalidRefreshToken().withReason(REASONS[verdict], session?.userId);
  }
}

const isAccepted = (verdict: RefreshVerdict): verdict is Accepted =>
  verdict === 'current' || verdict === 'replay' || verdict === 'late' || verdict === 'ahead';
