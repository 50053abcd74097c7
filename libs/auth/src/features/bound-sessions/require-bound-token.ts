import { type ExecutionContext, Injectable, applyDecorators } from '@nestjs/common';
import { Realm, errors, http, identity, manifest } from '../../kit';
import { UnprovedToken } from './bound-sessions.errors';

/** Refuses access tokens that are bound to no key. */
@Injectable()
export class BoundTokenGate implements http.Gate {
  static readonly stage = 'ability';
  static readonly refusals = (): errors.AuthException[] => [new UnprovedToken()];

  constructor(private readonly realm: Realm) {}

  accept(): void {
    const { features, nameOf } = this.realm.options;
    if (!features.boundSessions)
      throw new errors.AuthConfigError(
        `@RequireBoundToken() needs ${nameOf('features.boundSessions')} (SVC_FEATURE_BOUND_SESSIONS). Turn it on.`,
      );
  }

  check(_context: ExecutionContext, request: object): void {
    const { claims, userId } = identity.callerAt(request, this.realm.guard);
    if (claims.cnf === undefined) throw new UnprovedToken().withReason('missing_proof', userId);
  }
}

/**
 * Requires an access token that is bound to a key of the client, with a proof of this key (RFC 9449). The response is 401 without
 * one. For single routes of a guard with `boundSessions.mode: 'allow'`.
 *
 * @param guard name of the guard whose tokens are accepted; the default guard when omitted
 * @example \@Post('transfers')
 * \@RequireBoundToken()
 * transfer(\@CurrentUser() user: User) {}
 * @publicApi
 */
export const RequireBoundToken = (guard?: string): ClassDecorator & MethodDecorator =>
  applyDecorators(
    ...(guard === undefined ? [] : [manifest.GuardName(guard)]),
    http.requires(http.AuthenticationGate, BoundTokenGate),
  );
