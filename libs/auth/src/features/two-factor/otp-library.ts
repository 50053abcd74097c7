import { AuthConfigError } from '../../foundation/platform/errors';
import { optionalPeer } from '../../foundation/platform/optional-peer';

type Otplib = Pick<
  typeof import('otplib'),
  'createGuardrails' | 'generateSecret' | 'generateSync' | 'verifySync' | 'ScureBase32Plugin'
>;

/** Loads the optional peer. @throws AuthConfigError when it is not installed */
export function otpLibrary(load: typeof optionalPeer = optionalPeer): Otplib {
  const library = load<Otplib>('otplib');
  if (!library) throw new AuthConfigError('features.twoFactor needs otplib. Run: npm install otplib');
  return library;
}
