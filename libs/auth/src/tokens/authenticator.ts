import { Inject, Injectable } from '@nestjs/common';
import { AUTH_CONFIG, type AuthConfig } from '../config/auth-config';
import { Unauthenticated } from '../kernel/auth.exception';
import { answered } from '../kernel/unavailable';
import { canonicalId } from '../kernel/uuid';
import { telemetry } from '../observability/telemetry';
import { Realm } from '../realm/realm';
import { UserProvider } from '../users/user-provider';
import type { AccessClaims } from './access-token.policy';
import { AccessTokens } from './access-tokens';
import { type Caller, callerOf, recordCaller } from './caller';
import { Denylist } from './denylist';
import { Grant } from './grant';

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
    private readonly users: UserProvider,
    private readonly realm: Realm,
    @Inject(AUTH_CONFIG) private readonly config: AuthConfig,
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
    if (!token) throw new Unauthenticated(false).because('missing_token');
    const claims = this.accessTokens.read(token);
    if (typeof claims === 'string') throw new Unauthenticated(true).because(claims);
    return this.admit(request, claims);
  }

  /** Async, so that a provider which throws at once rejects like any other. */
  private async userOf(subject: string): Promise<object | null> {
    return this.users.findCaller(subject);
  }

  /** Admits a request whose token is verified already: checks revocation and the user. */
  async admit(request: object, claims: AccessClaims): Promise<Caller> {
    // Neither look-up needs the other, and both are needed: the slower one is the whole wait.
    const [denied, user] = await Promise.all([
      telemetry.span('svc.auth.guard.denylist', {}, () => this.denylist.denies(claims)),
      telemetry.span('svc.auth.guard.user', {}, () =>
        answered('The user store', this.config.storeTimeoutMs, this.userOf(claims.sub)),
      ),
    ]);
    if (denied || !user) throw new Unauthenticated(true).because(denied ? 'revoked_token' : 'unknown_user', claims.sub);
    const caller: Caller = {
      guard: this.realm.guard,
      userId: claims.sub,
      familyId: typeof claims.fid === 'string' && claims.fid ? canonicalId(claims.fid) : null,
      grant: Grant.ofScope(claims.scope),
      claims,
      user,
    };
    return recordCaller(request, caller);
  }
}
