import { errors, peer, pg } from '../../kit';

// A separate file, which no public type needs: the declarations of the package must not name an optional peer.
type Otplib = Pick<
  typeof import('otplib'),
  'createGuardrails' | 'generateSecret' | 'generateSync' | 'verifySync' | 'ScureBase32Plugin'
>;

/**
 * Returns a function that loads the optional peer at its first call, so that it does not delay the start.
 *
 * @throws AuthConfigError immediately when the peer is not installed
 */
export function otpLibrary(isInstalled: (name: peer.PeerName) => boolean = peer.hasPeer): () => Otplib {
  if (!isInstalled('otplib'))
    throw new errors.AuthConfigError('features.twoFactor needs otplib. Run: npm install otplib');
  return pg.once(() => peer.optionalPeer<Otplib>('otplib')!);
}
