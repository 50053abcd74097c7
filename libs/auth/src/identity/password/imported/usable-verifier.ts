import { AuthConfigError } from '../../../foundation/platform/errors';
import type { PasswordVerifier } from '../../../foundation/ports/passwords';

/**
 * The verifier, if it recognises its own decoy. One that does not is told to expect hashes that it takes for none:
 * they would match nobody, and the time of a login would tell who has one.
 *
 * @throws AuthConfigError that says what is wrong and how to mend it
 */
export function usable(verifier: PasswordVerifier, cure: string): PasswordVerifier {
  if (verifier.recognises(verifier.decoy)) return verifier;
  throw new AuthConfigError(cure);
}
