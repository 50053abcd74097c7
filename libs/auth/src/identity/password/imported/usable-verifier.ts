import { AuthConfigError } from '../../../foundation/platform/errors';
import type { PasswordVerifier } from '../../../foundation/ports/passwords';

/**
 * Returns the verifier if it recognises its own decoy. Otherwise it is configured for hashes that it refuses: no such
 * hash would match, and the duration of a login would reveal which accounts have an imported hash.
 *
 * @throws AuthConfigError with the text of `cure`
 */
export function usable(verifier: PasswordVerifier, cure: string): PasswordVerifier {
  if (verifier.recognises(verifier.decoy)) return verifier;
  throw new AuthConfigError(cure);
}
