import { Injectable, Inject } from '@nestjs/common';
import { StoreUnavailable, Unauthenticated } from '../../foundation/platform/errors';
import { canonicalId, isUuid } from '../../foundation/platform/database';
import { telemetry } from '../../foundation/observability/telemetry';
import { Realm } from '../../foundation/realm/realm';
import { denylistVerdict } from '../denylist/denylist.policy';
import type { AccessClaims } from './access-token.policy';
import { AccessTokens } from './access-tokens';
import {
  type Caller,
  type Credentialed,
  TokenBindings,
  callerOf,
  credentialGateOf,
  recordCaller,
  recordPin,
} from './caller';
import { Denylist } from '../denylist/denylist';
import { AUTH_CONFIG, type AuthConfig } from '../../foundation/config/auth-config';
import { RequestScope, outerTransaction, withinDeadline } from '../../foundation/platform/deadline';
import { EndedSessions, UnfinishedEnds } from '../denylist/ended-sessions';
import { Grant } from '../users/grant';
import { TypeormUserProvider } from '../users/typeorm-user-provider';
import { UserProvider } from '../../foundation/ports/user-provider';
import { TimedUserProvider } from '../users/timed-user-provider';

/** The stored state of a caller. */
export interface StoredCaller {
  readonly user: object | null;
  /** Whether the session was ended; null if it is unknown in this service. */
  readonly ended: boolean | null;
  /** Whether the session has a pinned list of abilities; undefined if it was not read. */
  readonly pinned?: boolean;
}

/** Reads the user of a guarded request, and whether its session was ended, from the primary. */
@Injectable()
export class CallerReader {
  private readonly joined: TypeormUserProvider | undefined;

  constructor(
    private readonly users: TimedUserProvider,
    provider: UserProvider,
    private readonly endedSessions: EndedSessions,
    private readonly denylist: Denylist,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
  ) {
    // A service that only verifies may have users but no table of sessions, so it reads them separately.
    const isJoined = !config.verifyOnly && provider instanceof TypeormUserProvider && provider.readsSessions;
    this.joined = isJoined ? provider : undefined;
  }

  /** @param familyId the canonical session id; null for a token without a session */
  read(userId: string, familyId: string | null): Promise<StoredCaller> {
    if (!this.joined || !this.denylist.lifetime) return this.readSeparately(userId, familyId);
    const session = familyId !== null && isUuid(familyId) ? familyId : null;
    // Most routes of the library ask for it.
    const asksPin = RequestScope.current !== undefined;
    const reading = this.joined.findWithSession(userId, session, asksPin);
    return withinDeadline('The user store', this.config.storeTimeoutMs, reading);
  }

  private async readSeparately(userId: string, familyId: string | null): Promise<StoredCaller> {
    // With `features.denylist` off, access tokens live until they expire.
    const ending = this.denylist.lifetime ? this.endedSessions.has(familyId) : false;
    const [user, ended] = await Promise.all([this.users.findById(userId), ending]);
    return { user, ended };
  }
}

/** Authenticates a request by its access token. Guards, decorators and the Passport strategy all use this class. */
@Injectable()
export class Authenticator {
  constructor(
    private readonly accessTokens: AccessTokens,
    private readonly denylist: Denylist,
    private readonly callers: CallerReader,
    private readonly unfinishedEnds: UnfinishedEnds,
    private readonly bindings: TokenBindings,
    private readonly realm: Realm,
  ) {}

  /**
   * Authenticates a request and records the caller on it. A request is authenticated once per guard; later calls return
   * the recorded caller.
   *
   * @param hasPassed whether the request has passed a gate of its route: see `recordCredentialGate`
   * @throws Unauthenticated for a missing or unacceptable token
   * @throws StoreUnavailable if revocation or the user cannot be checked
   */
  async authenticate(request: Credentialed, hasPassed: (gate: object) => boolean = () => false): Promise<Caller> {
    const known = callerOf(request, this.realm.guard);
    if (known) {
      const gate = credentialGateOf(known);
      if (gate && !hasPassed(gate)) throw new Unauthenticated(true).withReason('invalid_token', known.userId);
      return recordCaller(request, known);
    }
    const { token } = this.bindings.credentialOf(request);
    if (!token) throw this.bindings.refusal(false).withReason('missing_token');
    const preparing = this.accessTokens.prepare(token);
    if (preparing) await preparing;
    const claims = this.accessTokens.read(token);
    if (typeof claims === 'string') throw this.bindings.refusal(true).withReason(claims);
    // Awaited here: a promise that an async function returns costs two more turns of the microtask queue.
    return await this.admit(request, claims);
  }

  /**
   * Authenticates a request that has an `Authorization` header. A header that is not accepted is refused: a client whose session
   * has ended must not get the answer for visitors.
   *
   * @returns the caller; null without the header
   * @throws Unauthenticated, StoreUnavailable as {@link authenticate} does
   */
  async authenticateIfAsked(request: Credentialed): Promise<Caller | null> {
    // A host's `requestOf` can return names with capitals, and its middleware can assign undefined, which is no header.
    const isAsked = Object.entries(request.headers ?? {}).some(
      ([name, value]) => value !== undefined && name.toLowerCase() === 'authorization',
    );
    return isAsked ? await this.authenticate(request) : null;
  }

  /** Checks the sender, the revocation and the user of a request with a verified token, and records the caller. */
  async admit(request: Credentialed, claims: AccessClaims): Promise<Caller> {
    if (this.bindings.isUsed) await this.bindings.verify(request, claims);
    return recordCaller(request, await this.callerFor(claims));
  }

  /**
   * Checks revocation and the user of a verified token, without a record on a request, and without its sender.
   *
   * @throws Unauthenticated, StoreUnavailable as {@link authenticate} does
   */
  async callerFor(claims: AccessClaims): Promise<Caller> {
    const familyId = typeof claims.fid === 'string' && claims.fid ? canonicalId(claims.fid) : null;
    // The look-ups are independent, so they run concurrently.
    const [stored, { user, ended, pinned }] = await Promise.all([
      telemetry.span('svc.auth.guard.denylist', {}, () => this.denylist.read(claims)),
      telemetry.span('svc.auth.guard.user', {}, () => this.callers.read(claims.sub, familyId)),
    ]);
    const verdict = denylistVerdict({ ...stored, ended });
    if (verdict === 'unknown') throw new StoreUnavailable('The denylist');
    // Denied, but not ended: the end was not committed. A transaction of the host may not see it, and cannot finish it.
    if (verdict === 'ended' && ended === false && !outerTransaction())
      await this.unfinishedEnds.finish(claims.sub, familyId);
    if (verdict === 'ended') throw this.bindings.refusal(true).withReason('revoked_token', claims.sub);
    if (!user) throw this.bindings.refusal(true).withReason('unknown_user', claims.sub);
    const caller: Caller = {
      guard: this.realm.guard,
      userId: claims.sub,
      familyId,
      grant: Grant.ofScope(claims.scope),
      claims,
      user,
    };
    if (pinned !== undefined) recordPin(caller, pinned);
    return caller;
  }
}
