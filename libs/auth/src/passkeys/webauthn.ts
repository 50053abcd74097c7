import { AuthConfigError } from '../kernel/auth.exception';
import { optionalPeer } from '../kernel/optional-peer';

type Server = typeof import('@simplewebauthn/server');
type Helpers = typeof import('@simplewebauthn/server/helpers');

/** What is used of `@simplewebauthn/server`. */
export type Webauthn = Pick<Server, 'verifyAuthenticationResponse' | 'verifyRegistrationResponse'> &
  Pick<Helpers, 'decodeAttestationObject' | 'decodeClientDataJSON' | 'decodeCredentialPublicKey' | 'isoCBOR'>;

/** DI token of {@link Webauthn}. */
export const WEBAUTHN = Symbol('WEBAUTHN');

const PEER = '@simplewebauthn/server';

/** @throws AuthConfigError where the optional peer is not installed */
export function loadWebauthn(load: (name: string) => unknown = optionalPeer): Webauthn {
  const [server, helpers] = [load(PEER), load(`${PEER}/helpers`)];
  if (server && helpers) return { ...(server as Server), ...(helpers as Helpers) };
  throw new AuthConfigError(`features.passkeys needs the package ${PEER}. Run: npm install ${PEER}`);
}
