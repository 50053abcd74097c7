import { Clock } from '../../foundation/platform/clock';
import { otpLibrary } from '../../features/two-factor/otp-library';

/** Seconds that one code is shown. */
const STEP = 30;

/**
 * The code that a user's authenticator shows (RFC 6238). A code is good for once: for another one move the clock on by
 * 30 seconds, or ask for the next one.
 *
 * @param otpauthUri as `POST /two-factor` answers it
 * @param clock the application's, where it is a moved one
 * @param ahead how many codes later
 * @throws AuthConfigError where the optional peer otplib is not installed
 * @publicApi
 */
export function totpCode(otpauthUri: string, clock = new Clock(), ahead = 0): string {
  const secret = new URL(otpauthUri).searchParams.get('secret') ?? '';
  return otpLibrary().generateSync({ secret, epoch: clock.seconds() + ahead * STEP });
}
