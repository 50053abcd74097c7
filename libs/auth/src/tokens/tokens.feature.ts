import { AUTH_CONFIG, type AuthConfig } from '../config/auth-config';
import { AuthConfigError } from '../kernel/auth.exception';
import type { Feature } from '../realm/feature';
import { Realm } from '../realm/realm';
import { AccessTokens } from './access-tokens';
import { Authenticator } from './authenticator';
import { Denylist, NoDenylist, StoredDenylist } from './denylist';
import { JwksController } from './jwks.controller';
import { Keyring } from './keyring';
import { PurposeTokens } from './purpose-tokens';

/** Routes issue tokens, so they need a key that signs; a deployment without routes may only verify. */
function keyring({ options }: Realm, { routes }: AuthConfig): Keyring {
  const keys = new Keyring(options);
  if (!routes || keys.canSign) return keys;
  throw new AuthConfigError(
    'keys.private (SVC_PRIVATE_KEY) is missing. Set it, or set routes to false to verify only.',
  );
}

/** Verifying, minting and publishing: what every realm has. */
export const tokens: Feature = {
  controllers: [JwksController],
  providers: [
    { provide: Keyring, useFactory: keyring, inject: [Realm, AUTH_CONFIG] },
    AccessTokens,
    PurposeTokens,
    Authenticator,
  ],
};

export const denylist: Feature = {
  flags: ['denylist'],
  providers: [{ provide: Denylist, useClass: StoredDenylist }],
  whenOff: [{ provide: Denylist, useClass: NoDenylist }],
};
