import { type ExecutionContext, Inject, Injectable, applyDecorators } from '@nestjs/common';
import { Realm, RealmScope, errors, http, identity, manifest, settings } from '../../kit';
import { KeyAuthenticator } from './key-authenticator';

/** Authenticates a request with an access key before the gates that require a user. */
@Injectable()
export class KeyGate implements http.Gate {
  static readonly stage = 'credential';

  constructor(
    private readonly realm: Realm,
    private readonly scope: RealmScope,
    @Inject(settings.AUTH_CONFIG) private readonly config: settings.AuthConfig,
  ) {}

  accept(): void {
    const { features, accessKeys, nameOf } = this.realm.options;
    if (!features.accessKeys)
      throw new errors.AuthConfigError(
        `@AcceptsKeys() needs ${nameOf('features.accessKeys')} (SVC_FEATURE_ACCESS_KEYS). Turn it on.`,
      );
    if (!this.scope.has(KeyAuthenticator))
      throw new errors.AuthConfigError(
        `The guard "${this.realm.guard}" has no access keys. Remove @AcceptsKeys() here.`,
      );
    if (this.config.verifyOnly && !accessKeys.verifier)
      throw new errors.AuthConfigError(
        `@AcceptsKeys() in a service that only verifies needs ${nameOf('accessKeys.verifier')}: a function that asks the issuer.`,
      );
  }

  async check(_context: ExecutionContext, request: identity.Credentialed & { ip?: unknown }): Promise<void> {
    const keys = this.scope.get(KeyAuthenticator);
    const text = identity.bearerOf(request);
    if (!keys.isKey(text)) return;
    if (identity.callerOf(request, this.realm.guard)) return;
    const caller = await keys.callerOf(text, request.ip);
    identity.recordCredentialGate(caller, KeyGate);
    identity.recordCaller(request, caller);
  }
}

/**
 * Requires an access key or a valid access token, each as the bearer credential of the header `Authorization`. Further requirements,
 * such as abilities, apply as always; those that need a person who is there (step-up, factors, a recent sign-in) refuse keys.
 *
 * `\@CurrentUser()` is the owner of the key, and null for a key of a service. `\@CurrentCaller()` has `keyId` and `service`.
 *
 * The requests with one key are counted where the route has `@Throttled('svc-key')`.
 *
 * @param guard name of the guard whose keys and tokens are accepted; the default guard when omitted
 * @example \@Post('orders')
 * \@AcceptsKeys()
 * \@Abilities('orders.write')
 * create(\@CurrentUser() user: User | null) {}
 * @publicApi
 */
export const AcceptsKeys = (guard?: string): ClassDecorator & MethodDecorator =>
  applyDecorators(
    ...(guard === undefined ? [] : [manifest.GuardName(guard)]),
    http.requires(KeyGate, http.AuthenticationGate),
  );
