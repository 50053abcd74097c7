import type { Feature } from '../realm/feature';
import { Realm } from '../realm/realm';
import { AccessTokens } from './access-tokens';
import { Authenticator } from './authenticator';
import { Denylist, NoDenylist, StoredDenylist } from './denylist';
import { JwksController } from './jwks.controller';
import { Keyring } from './keyring';

/** Verifying, minting and publishing: what every realm has. */
export const tokens: Feature = {
  controllers: [JwksController],
  providers: [
    { provide: Keyring, useFactory: ({ options }: Realm) => new Keyring(options), inject: [Realm] },
    AccessTokens,
    Authenticator,
  ],
};

export const denylist: Feature = {
  flag: 'denylist',
  providers: [{ provide: Denylist, useClass: StoredDenylist }],
  whenOff: [{ provide: Denylist, useClass: NoDenylist }],
};
