import { Inject, Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { GuardConfig } from '../../foundation/config/auth-config';
import { Clock } from '../../foundation/platform/clock';
import { sha256 } from '../../foundation/platform/crypto';
import { bestEffort } from '../../foundation/platform/deadline';
import { AuthConfigError, StoreUnavailable } from '../../foundation/platform/errors';
import { type Feature, MANIFESTS } from '../../foundation/realm/feature';
import type { GuardServices } from '../../foundation/realm/feature-data';
import { Realm } from '../../foundation/realm/realm';
import { SecurityStore } from '../../foundation/security-store/security-store';
import { CLOCK_MARGIN, tokenKey } from '../denylist/denylist';
import { StoreContinuity } from '../denylist/store-continuity';
import { ACCESS_TOKEN_TYPE, hasSoundClaims } from './access-token.policy';
import { Keyring, prepareKey, signJws, verifyJws } from './keyring';
import { type PurposeClaims, epochOf, isOfEpoch, isPurposeToken, purposeErrors } from './purpose-token.policy';

/** What a kind of single-purpose tokens is for. It is declared beside its feature, whose manifest lists it. */
export interface Purpose {
  /** Value of the `typ` header, so that no token is valid for another purpose (RFC 8725 §3.11). */
  readonly type: string;
  /** Lifetime in seconds. */
  readonly lifetime: (options: GuardConfig) => number;
  /** Whether its tokens are those of sign-ins that have begun. What ends all sessions of a user ends these tokens, too. */
  readonly isChallenge?: boolean;
}

declare module '../../foundation/realm/feature' {
  interface Feature {
    /** The purposes of the feature's tokens. */
    readonly purposes?: readonly Purpose[];
  }
}

/** Claims that bind a token to an id, a session or a password hash, and what the sign-in was and asked for. */
export type Binding = Partial<Pick<PurposeClaims, 'jti' | 'fid' | 'fpr' | 'fst' | 'org' | 'rem'>>;

/**
 * The fingerprint of a stored password hash for one token or one session. It contains the id, so that the
 * fingerprints of two of them do not show whether the hash is the same. It has no key, because a service that only verifies
 * has none: the random salt of the hash makes guesses of the password impossible.
 *
 * @param digest null for a user without a password
 */
export const fingerprintFor = (id: string, digest: string | null): string => sha256(JSON.stringify([id, digest]));

/**
 * Mints, verifies, spends and ends the realm's single-purpose tokens. Access tokens and these tokens are not
 * interchangeable. Challenges ({@link Purpose.isChallenge}) become invalid when the security store loses its data, because the
 * records of their use and of their end are lost with it. Tokens of other purposes have no such records.
 */
@Injectable()
export class PurposeTokens {
  private readonly purposes: readonly Purpose[];
  /** Longest lifetime of a challenge. */
  private readonly longest: number;

  /** @throws AuthConfigError if two purposes have one type */
  constructor(
    private readonly keyring: Keyring,
    private readonly store: SecurityStore,
    private readonly continuity: StoreContinuity,
    private readonly realm: Realm,
    private readonly clock: Clock,
    @Inject(MANIFESTS) manifests: readonly Feature[],
  ) {
    this.purposes = manifests.flatMap((feature) => feature.purposes ?? []);
    const errors = purposeErrors([ACCESS_TOKEN_TYPE, ...this.purposes.map(({ type }) => type)]);
    if (errors.length) throw new AuthConfigError(errors.join('\n'));
    const challenges = this.purposes.filter(({ isChallenge }) => isChallenge);
    this.longest = Math.max(...challenges.map(({ lifetime }) => lifetime(realm.options)));
  }

  /**
   * @param binding further claims that bind the token; without a `jti` it gets a random one
   * @throws StoreUnavailable
   */
  async mint(purpose: Purpose, userId: string, binding: Binding = {}): Promise<string> {
    // An end is kept for the longest lifetime of the listed purposes.
    if (!this.purposes.includes(purpose)) throw new Error(`no manifest lists the purpose ${purpose.type}`);
    const state = purpose.isChallenge ? await this.state(userId) : {};
    const now = this.clock.seconds();
    const { issuer, audience } = this.realm.options;
    return signJws(this.keyring, purpose.type, {
      iss: issuer,
      aud: [...audience],
      sub: userId,
      jti: randomUUID(),
      iat: now,
      nbf: now,
      exp: now + purpose.lifetime(this.realm.options),
      gid: this.realm.guard,
      ...state,
      ...binding,
    });
  }

  /** Claims of a challenge: the state of the store, and the ends that it contains. */
  private async state(userId: string): Promise<Pick<PurposeClaims, 'sto' | 'epo'>> {
    const { values, continuity: sto } = await this.continuity.readCurrent(
      this.endKeys(userId),
      this.store.slotTag(userId),
    );
    const epo = epochOf(values);
    return { sto, ...(epo !== undefined && { epo }) };
  }

  /** The claims of a valid token of this purpose that was neither spent nor ended, or null. @throws StoreUnavailable */
  async verify(purpose: Purpose, token: string): Promise<PurposeClaims | null> {
    const preparing = prepareKey(this.keyring, token);
    if (preparing) await preparing;
    const jws = verifyJws(this.keyring, token);
    if (!jws) return null;
    const { issuer, audience, leeway, tokenIds: ids } = this.realm.options;
    const longest = purpose.lifetime(this.realm.options);
    const expected = { type: purpose.type, issuer, audience, leeway, longest, guard: this.realm.guard };
    if (!hasSoundClaims(jws.claims, ids)) return null;
    if (!isPurposeToken(jws.header, jws.claims, expected, this.clock.seconds())) return null;
    // Spent tokens are checked even while `features.denylist` is off.
    const { sub } = jws.claims;
    const ends = purpose.isChallenge ? this.endKeys(sub) : [];
    return (await this.isOutstanding(jws.claims, [this.usedKey(jws.claims)], ends)) ? jws.claims : null;
  }

  /**
   * Whether no end of a verified challenge is recorded, and the store certainly contains its end if there is one.
   *
   * @param absent further keys that must not be in the store
   * @throws StoreUnavailable
   */
  async isOutstanding(
    { sub, sto, epo }: PurposeClaims,
    absent: readonly string[] = [],
    ends = this.endKeys(sub),
  ): Promise<boolean> {
    const { values, continuity, isUncertain } = await this.continuity.read(
      [...ends, ...absent],
      this.store.slotTag(sub),
    );
    if (sto !== undefined && isUncertain) throw new StoreUnavailable('The store');
    const isAbsent = values.slice(ends.length).every((value) => value === null);
    return isAbsent && (sto === undefined || sto === continuity) && isOfEpoch(epo, values.slice(0, ends.length));
  }

  /**
   * Ends the outstanding challenges of every kind: those of one user or, without a user, those of all users of the guard. Those that are minted later are valid. The end is kept for as long as the longest kind of challenge lives.
   *
   * @throws StoreUnavailable
   */
  async endChallenges(userId?: string): Promise<void> {
    const seconds = this.longest + this.realm.options.leeway + CLOCK_MARGIN;
    // A challenge is read with the keys of its user's slot tag only.
    const tags = userId === undefined ? this.store.slotTags : [this.store.slotTag(userId)];
    await this.store.setMany(
      tags.map((tag) => this.endKey(tag, userId)),
      randomUUID(),
      seconds,
    );
  }

  /**
   * Marks a token as spent. False if it was spent before, or if the store has lost that fact. Of concurrent calls,
   * at most one returns true.
   */
  async spend(claims: PurposeClaims): Promise<boolean> {
    const { sub, exp, sto } = claims;
    const remaining = exp - this.clock.seconds() + this.realm.options.leeway;
    if (!(await this.store.add(this.usedKey(claims), 'true', Math.max(1, remaining) + CLOCK_MARGIN))) return false;
    // Checked again: the store may have lost its data, including spent tokens, since the token was verified.
    if (sto === undefined) return true;
    const { continuity, isUncertain } = await this.continuity.read([], this.store.slotTag(sub));
    if (!isUncertain) return sto === continuity;
    await bestEffort('restoring a token', () => this.restore(claims), 0);
    throw new StoreUnavailable('The store');
  }

  /** Reverts {@link spend}. */
  async restore(claims: PurposeClaims): Promise<void> {
    await this.store.take(this.usedKey(claims));
  }

  /** The key of a used token. All keys of a user's tokens have one slot tag, so that they are read together. */
  private usedKey({ jti, sub }: PurposeClaims): string {
    return tokenKey(jti, this.store.slotTag(sub));
  }

  /** The keys of the latest ends: for the user, and for all users of the guard. */
  private endKeys(userId: string): string[] {
    const tag = this.store.slotTag(userId);
    return [this.endKey(tag, userId), this.endKey(tag)];
  }

  private endKey(tag: string, userId?: string): string {
    const guard = `svc:end:${tag}${this.realm.guard}`;
    return userId === undefined ? guard : `${guard}:${userId}`;
  }
}

/** The hook `endAll` of each feature with challenges. */
export const endChallenges = (
  services: GuardServices,
  { userId, mustRecord }: { userId?: string; mustRecord: boolean },
): Promise<unknown> =>
  services
    .get(PurposeTokens)
    .endChallenges(userId)
    .catch((error: unknown) => {
      if (mustRecord) throw error;
      return error;
    });
