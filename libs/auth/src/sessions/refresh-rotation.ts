import { Injectable } from '@nestjs/common';
import { Grants } from '../abilities/grants';
import type { SessionTokens } from '../http/session-tokens';
import { AuthEvents } from '../kernel/auth-events';
import type { RequestScope } from '../kernel/request-scope';
import { newSecret, sha256 } from '../kernel/secrets';
import type { Reason } from '../observability/reasons';
import { Realm } from '../realm/realm';
import { AccessTokens } from '../tokens/access-tokens';
import { Denylist } from '../tokens/denylist';
import { InvalidRefreshToken } from './invalid-refresh-token.exception';
import { RefreshFamilyForked } from './refresh-family-forked.event';
import { RefreshTokenReused } from './refresh-token-reused.event';
import { type FoundToken, RefreshTokenStore, type SeenToken, type Succeed } from './refresh-token.store';
import { type Verdict, endsSession, isHonoured, judge } from './rotation.policy';
import { Sessions } from './sessions';
import { TokenClaims } from './token-claims';

interface Outcome {
  verdict: Verdict;
  tokens?: SessionTokens;
  /** Live refresh tokens of the session, counted for siblings. */
  live?: number;
}

/** What operators are told of a refusal; the client is told one thing whatever it was. */
const REASONS: Readonly<Record<Verdict, Reason>> = {
  unknown: 'unknown_token',
  revoked: 'revoked_token',
  expired: 'expired_token',
  reuse: 'reused_token',
  // Neither is refused.
  first: 'unexpected',
  sibling: 'unexpected',
};

/** What the host adds to the next access token. */
type Additions = Awaited<ReturnType<Grants['granted']>> & { custom: object };

/** Exchanges a refresh token for its successor. The rule is {@link judge}; this carries it out. */
@Injectable()
export class RefreshRotation {
  constructor(
    private readonly store: RefreshTokenStore,
    private readonly grants: Grants,
    private readonly tokenClaims: TokenClaims,
    private readonly accessTokens: AccessTokens,
    private readonly denylist: Denylist,
    private readonly sessions: Sessions,
    private readonly events: AuthEvents,
    private readonly realm: Realm,
  ) {}

  /**
   * @param scope of the request: what is asked of every refresh is given it, and all else runs in it
   * @throws InvalidRefreshToken whatever the reason; anything else has consumed nothing
   */
  async rotate(refreshToken: string, scope: RequestScope): Promise<SessionTokens> {
    const seen = await this.store.byHash(sha256(refreshToken), scope.waiting);
    // Revoked, expired and reused stay so: no lock is taken and no host code runs for a lost cause.
    const verdict = await this.preview(seen, scope);
    const outcome = seen && isHonoured(verdict) ? await this.exchange(refreshToken, seen, verdict, scope) : { verdict };

    if (outcome.tokens) {
      this.reportFork(seen!, outcome.live ?? 0);
      return outcome.tokens;
    }
    await this.refuse(seen, outcome.verdict, scope);
    throw new InvalidRefreshToken().because(refreshToken ? REASONS[outcome.verdict] : 'missing_token', seen?.userId);
  }

  /** A session on the denylist is revoked, also when the write of its row failed after the denial. */
  private async preview(seen: FoundToken | null, { waiting }: RequestScope): Promise<Verdict> {
    const verdict = this.judge(seen);
    if (!seen || !isHonoured(verdict)) return verdict;
    return (await this.denylist.deniesFamily(seen.familyId, waiting)) ? 'revoked' : verdict;
  }

  private async exchange(presented: string, seen: SeenToken, verdict: Verdict, scope: RequestScope): Promise<Outcome> {
    // Host callbacks run here, before the transaction: slow or failing ones hold no lock and consume nothing.
    const additions = await this.additions(seen, scope);
    const outcome = verdict === 'first' ? await this.exchangeSeen(seen, additions, scope) : null;
    return outcome ?? scope.run(() => this.exchangeLocked(presented, seen, additions));
  }

  private additions({ scope: stored, userId, familyId }: SeenToken, scope: RequestScope): Promise<Additions> {
    const asked = async (): Promise<Additions> => ({
      ...(await this.grants.granted(stored, userId, familyId)),
      custom: await this.tokenClaims.of(userId, familyId),
    });
    const { abilities, tokenClaims } = this.realm.options.hooks;
    // What the host does may wait for stores, and hash.
    return abilities || tokenClaims ? scope.run(asked) : asked();
  }

  /** Where nobody else is at the session, which is nearly always. Null where it is not so, and nothing was done. */
  private async exchangeSeen(
    seen: SeenToken,
    additions: Additions,
    { waiting }: RequestScope,
  ): Promise<Outcome | null> {
    if (!this.realm.options.features.rotation) return null;
    const refreshToken = newSecret();
    // Minted before anything is consumed.
    const tokens = this.tokens(seen, refreshToken, additions);
    return (await this.store.exchange(seen, sha256(refreshToken), waiting)) ? { verdict: 'first', tokens } : null;
  }

  private exchangeLocked(presented: string, seen: SeenToken, additions: Additions): Promise<Outcome> {
    return this.store.locked(sha256(presented), async (found, succeed) => {
      const verdict = this.judge(found);
      if (!found || !isHonoured(verdict)) return { verdict };
      // The grant was made for the row read first; from a lagging replica it could be another.
      if (found.id !== seen.id || found.scope !== seen.scope)
        throw new Error('the refresh token changed between two reads');
      const { refreshToken, live } = await this.successor(found, verdict, presented, succeed);
      // Minted before the commit: a failure here rolls the consumption back with it.
      return { verdict, live, tokens: this.tokens(found, refreshToken, additions) };
    });
  }

  /** With rotation off the presented token goes on, and nothing is consumed. */
  private async successor(found: FoundToken, verdict: Verdict, presented: string, succeed: Succeed) {
    if (!this.realm.options.features.rotation) return { refreshToken: presented, live: 0 };
    const refreshToken = newSecret();
    const live = await succeed(found, sha256(refreshToken), verdict === 'first');
    return { refreshToken, live: verdict === 'sibling' ? live : 0 };
  }

  private tokens(found: FoundToken, refreshToken: string, additions: Additions): SessionTokens {
    const { userId, familyId, amr, expiresAt, now } = found;
    const authTime = Math.floor(found.authTime);
    return {
      accessToken: this.accessTokens.mint({ userId, familyId, amr, authTime, ...additions }),
      refreshToken,
      expiresIn: this.accessTokens.ttl,
      refreshExpiresIn: Math.max(0, Math.floor(expiresAt - now)),
    };
  }

  private reportFork({ userId, familyId }: FoundToken, live: number): void {
    if (live > this.realm.options.forkThreshold) this.events.emit(new RefreshFamilyForked(userId, familyId, live));
  }

  private async refuse(seen: FoundToken | null, verdict: Verdict, scope: RequestScope): Promise<void> {
    if (!seen || !endsSession(verdict, this.realm.options.features.reuseDetection)) return;
    // After the commit: a throw inside the transaction would roll the revocation back with it.
    await scope.run(() => this.sessions.revoke(seen.familyId));
    if (verdict === 'reuse') this.events.emit(new RefreshTokenReused(seen.familyId));
  }

  /** Times are the database's, all read in one statement. */
  private judge(token: FoundToken | null): Verdict {
    return judge(token, this.realm.options.graceSeconds);
  }
}
