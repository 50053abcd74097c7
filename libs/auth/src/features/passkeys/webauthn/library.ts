import { AuthConfigError } from '../../../foundation/platform/errors';
import { once } from '../../../foundation/platform/sweep';
import { hasPeer, optionalPeer } from '../../../foundation/platform/optional-peer';

type Server = typeof import('@simplewebauthn/server');
type Helpers = typeof import('@simplewebauthn/server/helpers');

/** What is used of `@simplewebauthn/server`. */
export type Webauthn = Pick<Server, 'verifyAuthenticationResponse' | 'verifyRegistrationResponse'> &
  Pick<Helpers, 'decodeAttestationObject' | 'decodeClientDataJSON' | 'decodeCredentialPublicKey' | 'isoCBOR'>;

/** DI token of a function that returns {@link Webauthn}. */
export const WEBAUTHN = Symbol('WEBAUTHN');

const PEER = '@simplewebauthn/server';
const HELPERS = `${PEER}/helpers`;

/**
 * Loads the library when it is first called, which takes as long as the start of an application: most processes verify
 * no passkey in their first seconds, and a console command none at all.
 *
 * @throws AuthConfigError at once, where the optional peer is not installed; what that lacks itself shows at the first call
 */
export function webauthnOnDemand(isThere: (name: string) => boolean = hasPeer): () => Webauthn {
  if (![PEER, HELPERS].every((name) => isThere(name))) throw notInstalled();
  return once(() => loadWebauthn());
}

/** @throws AuthConfigError where the optional peer is not installed */
export function loadWebauthn(load: (name: string) => unknown = optionalPeer): Webauthn {
  const [server, helpers] = [load(PEER), load(HELPERS)];
  if (server && helpers) return { ...(server as Server), ...(helpers as Helpers) };
  throw notInstalled();
}

const notInstalled = (): AuthConfigError =>
  new AuthConfigError(`features.passkeys needs the package ${PEER}. Run: npm install ${PEER}`);
