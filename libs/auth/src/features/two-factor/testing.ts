import type { INestApplicationContext } from '@nestjs/common';
import { Auth } from '../../auth';
import { otpLibrary } from './otp-library';
import { Clock } from '../../foundation/platform/clock';
import { Unauthenticated } from '../../foundation/platform/errors';
import { UserProvider } from '../../foundation/ports/user-provider';
import { Realms } from '../../foundation/realm/realm';

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
  return otpLibrary()().generateSync({ secret, epoch: clock.seconds() + ahead * STEP });
}

/** An enabled second factor, as its owner has it. */
export interface EnrolledFactor {
  /** The key of the authenticator app in Base32. */
  readonly secret: string;
  /** The `otpauth_uri` of the enrolment. */
  readonly otpauthUri: string;
  /** The recovery codes. Each is valid once. */
  readonly recoveryCodes: readonly string[];
  /**
   * The code of the authenticator app by the clock of the application. A code is valid once: for another one advance the
   * clock by 30 seconds, or set `ahead`.
   *
   * @param ahead number of time steps to look ahead; default 0. `twoFactor.window` (1) limits what is accepted
   */
  code(ahead?: number): string;
}

/**
 * Enables the second factor of a user without a request: the user has it from now on, at the login and in the database.
 * The current code is not used up by the enrolment if `twoFactor.window` is at least 1.
 *
 * @param user the id of the user
 * @param guard the guard of the user; default: the default guard
 * @throws Unauthenticated for an unknown user
 * @throws AlreadyEnrolled if the user has a second factor
 * @throws AuthConfigError for an unknown guard, when `features.twoFactor` is off for the guard, and when the optional peer
 * otplib is not installed
 * @example
 * const factor = await enrolTwoFactor(app, user.id);
 * await request(app.getHttpServer()).post('/auth/two-factor-challenge').send({ challenge_token, code: factor.code() });
 * @publicApi
 */
export async function enrolTwoFactor(
  app: INestApplicationContext,
  user: string | number,
  guard?: string,
): Promise<EnrolledFactor> {
  const realms = app.get(Realms, { strict: false });
  const scope = realms.named(guard) ?? realms.default;
  const { guard: name, options } = scope.realm;
  const { twoFactor } = app.get(Auth, { strict: false }).guard(name);
  const clock = app.get(Clock, { strict: false });
  const account = await scope.get(UserProvider).findById(String(user));
  if (!account) throw new Unauthenticated(false);
  const { otpauthUri, recoveryCodes } = await twoFactor.enrol(account);
  const code = (ahead = 0): string => totpCode(otpauthUri, clock, ahead);
  const confirm = (): Promise<void> => twoFactor.confirm(String(user), code(options.twoFactor.window > 0 ? -1 : 0));
  // Repeated once, because a time step can end between the computation of the code and its check.
  await confirm().catch(confirm);
  return { secret: new URL(otpauthUri).searchParams.get('secret')!, otpauthUri, recoveryCodes, code };
}
