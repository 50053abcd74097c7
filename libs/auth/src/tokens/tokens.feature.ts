import { AUTH_CONFIG, type AuthConfig } from '../config/auth-config';
import { AuthConfigError } from '../kernel/auth.exception';
import { Clock } from '../kernel/clock';
import type { Feature } from '../realm/feature';
import { Realm } from '../realm/realm';
import { AccessTokens } from './access-tokens';
import { Authenticator } from './authenticator';
import { CallerReader } from './caller-reader';
import { Denylist, NoDenylist, StoredDenylist } from './denylist';
import { JwksController } from './jwks.controller';
import { Keyring } from './keyring';
import { keySetSource } from './key-set-source';
import { PurposeTokens } from './purpose-tokens';
import { RemoteKeys } from './remote-keys';

/** Routes issue tokens, so they need a key that signs; a deployment without routes may only verify. */
function keyring({ options }: Realm, { routes, storeTimeoutMs }: AuthConfig, clock: Clock): Keyring {
  const { algorithm, keys } = options;
  const remote =
    keys.jwks === undefined ? undefined : new RemoteKeys(keySetSource(keys.jwks), algorithm, storeTimeoutMs, clock);
  const ring = new Keyring(options, remote);
  if (!routes || ring.canSign) return ring;
  throw new AuthConfigError(
    'keys.private (SVC_PRIVATE_KEY) is missing. Set it, or set routes to false to verify only.',
  );
}

/** Verifying, minting and publishing: what every realm has. */
export const tokens: Feature = {
  controllers: [JwksController],
  providers: [
    { provide: Keyring, useFactory: keyring, inject: [Realm, AUTH_CONFIG, Clock] },
    AccessTokens,
    PurposeTokens,
    CallerReader,
    Authenticator,
  ],
};

export const denylist: Feature = {
  flags: ['denylist'],
  providers: [{ provide: Denylist, useClass: StoredDenylist }],
  whenOff: [{ provide: Denylist, useClass: NoDenylist }],
};
