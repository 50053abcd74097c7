import { Injectable, Logger } from '@nestjs/common';
import { AbilityResolver } from '../../request/abilities/granted-scope';
import type { SessionTokens } from '../../request/http/route.interceptor';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { StoreUnavailable } from '../../foundation/platform/errors';
import type { Reason } from '../../foundation/platform/catalogue';
import { Realm } from '../../foundation/realm/realm';
import { AccessTokens, TokenClaims } from '../../identity/tokens/access-tokens';
import { Denylist } from '../../identity/denylist/denylist';
import { InvalidRefreshToken, Sessions } from './sessions';
import { RefreshFamilyForked, RefreshTokenReused, SessionRecovered } from './sessions.events';
import { type ParsedRefreshToken, RefreshTokens, parseRefreshToken } from './refresh-tokens';
import { type Verdict, endsSession, judge } from './rotation.policy';
import { type FoundSession, SessionStore } from './session.store';

type Honoured = 'first' | 'replay' | 'ahead';

/** What operators are told of a refusal; the client is told one thing whatever it was. */
const REASONS: Readonly<Record<Exclude<Verdict, Honoured>, Reason>> = {
  unknown: 'unknown_token',
  revoked: 'revoked_token',
  expired: 'expired_token',
  reuse: 'reused_token',
};

/**
 * Times that a session is read and judged. Each repetition means that another request has changed the session in
 * between; after so many of them the client is asked to come back.
 */
const ATTEMPTS = 10;

/** What the host adds to the next access token. */
type Additions = Awaited<ReturnType<AbilityResolver['resolve']>> & { custom: object };

/** Exchanges a refresh token for its successor. The rule is {@link judge}; this carries it out. */
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
    private readonly sessions: Sessions,
    private readonly events: AuthEvents,
    private readonly realm: Realm,
  ) {}

  /** @throws InvalidRefreshToken whatever the reason; anything else has consumed nothing */
  async rotate(refreshToken: string): Promise<SessionTokens> {
    const presented = parseRefreshToken(refreshToken);
    if (!presented) throw new InvalidRefreshToken().withReason(refreshToken ? 'unknown_token' : 'missing_token');
    const { familyId, generation } = presented;
    let [additions, since]: [Additions | undefined, number | undefined] = [undefined, undefined];
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      // Read anew each time. The denylist is asked once: an end that came later is seen by the statement.
      const [session, denied] = await Promise.all([
        this.genuine(presented),
        attempt === 0 && this.denylist.deniesFamily(familyId),
      ]);
      // A rotation that came after this request is a replay, however long the host's callbacks took meanwhile.
      since ??= session?.now;
      const verdict = judge(session && { ...session, now: since! }, generation, this.realm.options.graceSeconds);
      if (!session || !isHonoured(verdict)) throw await this.refusal(session, verdict as keyof typeof REASONS);
      if (denied) {
        // The end of the session reached the store, and its row was never written, or was lost.
        await this.sessions.end(familyId, 'revoked');
        throw new InvalidRefreshToken().withReason('revoked_token', session.userId);
      }
      // Host callbacks run here, before anything is changed: slow or failing ones hold no lock and consume nothing.
      additions ??= await this.additions(session);
      const isFirstTry = attempt === 0;
      const tokens = await this.exchange(session, generation, { verdict, isFirstTry }, additions);
      if (tokens) return tokens;
    }
    throw new StoreUnavailable('PostgreSQL');
  }

  /** The session of a token that this server made; null for every other token. */
  private async genuine(presented: ParsedRefreshToken): Promise<FoundSession | null> {
    const session = await this.store.find(presented.familyId);
    return session && this.refreshTokens.isGenuine(presented, session.salt) ? session : null;
  }

  /** Null where the session changed since it was read, and nothing was done. */
  private async exchange(
    session: FoundSession,
    generation: number,
    { verdict, isFirstTry }: { verdict: Honoured; isFirstTry: boolean },
    additions: Additions,
  ): Promise<SessionTokens | null> {
    const rotates = verdict !== 'replay' && this.realm.options.features.rotation;
    const current = verdict === 'replay' ? session.generation : generation + (rotates ? 1 : 0);
    // Minted before anything is changed: a failure here consumes nothing.
    const tokens = this.tokens(session, current, additions);
    if (rotates) {
      // A session that another request has locked is waited for at the second try.
      if (!(await this.store.rotate(session, generation, isFirstTry))) return null;
      if (verdict === 'ahead') this.reportRecovery(session, generation);
      return tokens;
    }
    const holders = await this.store.handOut(session, verdict === 'replay' ? 1 : 0);
    if (holders === null) return null;
    if (verdict === 'replay') this.reportFork(session, holders);
    return tokens;
  }

  private async additions({ scope, userId, familyId }: FoundSession): Promise<Additions> {
    const granted = await this.abilityResolver.resolve(scope, userId, familyId);
    return { ...granted, custom: await this.tokenClaims.claimsFor(userId, familyId) };
  }

  private tokens(session: FoundSession, generation: number, additions: Additions): SessionTokens {
    const { userId, familyId, salt, amr, expiresAt, now } = session;
    const authTime = Math.floor(session.authTime);
    return {
      accessToken: this.accessTokens.mint({ userId, familyId, amr, authTime, ...additions }),
      refreshToken: this.refreshTokens.mint(familyId, generation, salt),
      expiresIn: this.accessTokens.ttl,
      refreshExpiresIn: Math.max(0, Math.floor(expiresAt - now)),
    };
  }

  private reportFork({ userId, familyId }: FoundSession, holders: number): void {
    if (holders <= this.realm.options.forkThreshold) return;
    this.events.emit(new RefreshFamilyForked(userId, familyId, holders));
  }

  private reportRecovery({ userId, familyId, generation }: FoundSession, presented: number): void {
    const lost = presented - generation;
    this.logger.warn(`PostgreSQL had lost ${lost} rotations of a session. It goes on from its client's token.`);
    this.events.emit(new SessionRecovered(this.realm.guard, userId, familyId, lost));
  }

  private async refusal(session: FoundSession | null, verdict: keyof typeof REASONS): Promise<InvalidRefreshToken> {
    if (session && endsSession(verdict, this.realm.options.features.reuseDetection)) {
      const isEnded = await this.sessions.end(session.familyId, 'reuse');
      if (isEnded) this.events.emit(new RefreshTokenReused(session.familyId));
    }
    // Its deadline ended it already. This tells the host, once, and ends its last access tokens.
    if (session && verdict === 'expired') await this.sessions.end(session.familyId, 'expired');
    return new InvalidRefreshToken().withReason(REASONS[verdict], session?.userId);
  }
}

const isHonoured = (verdict: Verdict): verdict is Honoured =>
  verdict === 'first' || verdict === 'replay' || verdict === 'ahead';
