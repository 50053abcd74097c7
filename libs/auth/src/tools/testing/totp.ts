import { Clock } from '../../foundation/platform/clock';
import { otpLibrary } from '../../features/two-factor/otp-library';

/** Time step in seconds (RFC 6238 §4.1). */
const STEP = 30;

/**
 * Computes the code of a user's authenticator (RFC 6238). A code is accepted once: for another code advance the clock by
 * 30 seconds, or set `ahead`.
 *
 * @param otpauthUri the `otpauth_uri` from the response of `POST /two-factor`
 * @param clock the application's clock, if it is a movable one
 * @param ahead number of time steps to look ahead
 * @throws AuthConfigError if the optional peer otplib is not installed
 * @publicApi
 */
export function totpCode(otpauthUri: string, clock = new Clock(), ahead = 0): string {
  const secret = new URL(otpauthUri).searchParams.get('secret') ?? '';
  return otpLibrary().generateSync({ secret, epoch: clock.seconds() + ahead * STEP });
}
