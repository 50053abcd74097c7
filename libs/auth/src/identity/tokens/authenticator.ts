import { Injectable } from '@nestjs/common';
import { StoreUnavailable, Unauthenticated } from '../../foundation/platform/errors';
import { canonicalId } from '../../foundation/platform/ids';
import { telemetry } from '../../foundation/observability/telemetry';
import { Realm } from '../../foundation/realm/realm';
import { denylistVerdict } from '../denylist/denylist.policy';
import type { AccessClaims } from './access-token.policy';
import { AccessTokens } from './access-tokens';
import { type Caller, callerOf, recordCaller, Grant } from './caller';
import { CallerReader } from './caller-reader';
import { Denylist } from '../denylist/denylist';

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The credential of an `Authorization: Bearer` header (RFC 6750 §2.1), or the empty string. */
export function bearerOf(headers: Headers | undefined): string {
  const { authorization } = headers ?? {};
  return (typeof authorization === 'string' && /^Bearer +([^ ]+) *$/i.exec(authorization)?.[1]) || '';
}

/** Turns a request's bearer token into the caller. Every way into a realm goes through here. */
@Injectable()
export class Authenticator {
  constructor(
    private readonly accessTokens: AccessTokens,
    private readonly denylist: Denylist,
    private readonly callers: CallerReader,
    private readonly realm: Realm,
  ) {}

  /**
   * Authenticates a request and records the caller on it. One request is authenticated once per guard,
   * however many guards and decorators ask.
   *
   * @throws Unauthenticated for a missing or unacceptable token, whatever the reason
   * @throws StoreUnavailable when revocation or the user cannot be checked
   */
  async authenticate(request: { headers?: Headers }): Promise<Caller> {
    const known = callerOf(request, this.realm.guard);
    if (known) return recordCaller(request, known);
    const token = bearerOf(request.headers);
    if (!token) throw new Unauthenticated(false).withReason('missing_token');
    const preparing = this.accessTokens.prepare(token);
    if (preparing) await preparing;
    const claims = this.accessTokens.read(token);
    if (typeof claims === 'string') throw new Unauthenticated(true).withReason(claims);
    return this.admit(request, claims);
  }

  /** Admits a request whose token is verified already: checks revocation and the user. */
  async admit(request: object, claims: AccessClaims): Promise<Caller> {
    const familyId = typeof claims.fid === 'string' && claims.fid ? canonicalId(claims.fid) : null;
    // Neither look-up needs the other, and both are needed: the slower one is the whole wait.
    const [stored, { user, ended }] = await Promise.all([
      telemetry.span('svc.auth.guard.denylist', {}, () => this.denylist.read(claims)),
      telemetry.span('svc.auth.guard.user', {}, () => this.callers.read(claims.sub, familyId)),
    ]);
    const verdict = denylistVerdict({ ...stored, ended });
    if (verdict === 'unknown') throw new StoreUnavailable('The denylist');
    if (verdict === 'ended') throw new Unauthenticated(true).withReason('revoked_token', claims.sub);
    if (!user) throw new Unauthenticated(true).withReason('unknown_user', claims.sub);
    const caller: Caller = {
      guard: this.realm.guard,
      userId: claims.sub,
      familyId,
      grant: Grant.ofScope(claims.scope),
      claims,
      user,
    };
    return recordCaller(request, caller);
  }
}
