import { errors, peer, pg } from '../../../kit';

type Server = typeof import('@simplewebauthn/server');
type Helpers = typeof import('@simplewebauthn/server/helpers');

/** The functions of `@simplewebauthn/server` that are used. */
export type Webauthn = Pick<Server, 'verifyAuthenticationResponse' | 'verifyRegistrationResponse'> &
  Pick<Helpers, 'decodeAttestationObject' | 'decodeClientDataJSON' | 'decodeCredentialPublicKey' | 'isoCBOR'>;

/** DI token of a function that returns {@link Webauthn}. */
export const WEBAUTHN = Symbol('WEBAUTHN');

const PEER = '@simplewebauthn/server';
const HELPERS = '@simplewebauthn/server/helpers';

/**
 * Returns a function that loads the library at its first call. Loading takes as long as the start of an application, and
 * a console command never needs it.
 *
 * @throws AuthConfigError immediately when the optional peer is not installed. A missing dependency of the peer causes an
 * error at the first call
 */
export function webauthnOnDemand(isInstalled: (name: peer.PeerName) => boolean = peer.hasPeer): () => Webauthn {
  if (!([PEER, HELPERS] as const).every((name) => isInstalled(name))) throw notInstalled();
  return pg.once(() => loadWebauthn());
}

/** @throws AuthConfigError when the optional peer is not installed */
export function loadWebauthn(load: (name: peer.PeerName) => unknown = peer.optionalPeer): Webauthn {
  const [server, helpers] = [load('@simplewebauthn/server'), load('@simplewebauthn/server/helpers')];
  if (server && helpers) return { ...(server as Server), ...(helpers as Helpers) };
  throw notInstalled();
}

const notInstalled = (): errors.AuthConfigError =>
  new errors.AuthConfigError(`features.passkeys needs the package ${PEER}. Run: npm install ${PEER}`);
