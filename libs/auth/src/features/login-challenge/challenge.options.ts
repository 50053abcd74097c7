import {
  type Duration,
  type OptionTree,
  type TableOf,
  DAY,
  days,
  flag,
  publicBlock,
  seconds,
} from '../../foundation/config/option-table';

/** The challenge after a correct password. Its options are in the block `twoFactor`. */
export interface LoginChallengeOptions {
  /**
   * Lifetime of a login challenge in seconds, 1 to 86400 (a day).
   *
   * @default 300
   * @env SVC_2FA_CHALLENGE_TTL
   */
  challengeTtl?: Duration;

  /**
   * Whether a user must have a second factor: TOTP or a passkey. A function decides for each user; it is called at each
   * login, after the correct password, at a user without TOTP, and before the last factor is removed. A user without a
   * factor gets no tokens at the login, but an enrolment token for the routes below `/two-factor-enrolment`. A user whose
   * only factor is a passkey must present it after the password. When the function throws, or returns no boolean, the
   * request fails with 500. Sessions that exist continue: see `@RequireFactor`. Extra guards inherit it: check
   * `context.guard` if their users differ. Needs `features.twoFactor` or, at the default guard, `features.passkeys`. An
   * extra guard with the users of a default guard that has passkeys must set it to false: its login asks for no passkeys.
   *
   * @default false
   * @env SVC_2FA_REQUIRED
   */
  required?: boolean | ((user: object, context: { guard: string }) => boolean | Promise<boolean>);

  /**
   * Lifetime of an enrolment token in seconds, 1 to 86400 (a day). Within it, a user for whom a second factor is
   * {@link required} sets one up. A session that starts an enrolment again within this time gets the same secret.
   *
   * @default 600
   * @env SVC_2FA_ENROLMENT_TTL
   */
  enrolmentTtl?: Duration;

  /**
   * Days for which a device is trusted, 0 to 90: after a completed second factor with `trust_device`, the password alone
   * signs the same user in from this device. `0` trusts no device. Such a session has the `amr` `["pwd"]`. A change of the
   * password or of a second factor, and the end of all sessions, end the trust. A lower value applies to devices that are
   * trusted already, too.
   *
   * @default 0
   * @env SVC_2FA_TRUSTED_DEVICE_DAYS
   */
  trustedDeviceDays?: Duration;
}

export const CHALLENGE_OPTIONS = {
  twoFactor: publicBlock({
    challengeTtl: seconds(1, DAY, { default: 300, env: '2FA_CHALLENGE_TTL' }),
    required: flag({ default: false, env: '2FA_REQUIRED', or: 'function' }),
    enrolmentTtl: seconds(1, DAY, { default: 600, env: '2FA_ENROLMENT_TTL' }),
    trustedDeviceDays: days(0, 90, { default: 0, env: '2FA_TRUSTED_DEVICE_DAYS' }),
  } satisfies TableOf<LoginChallengeOptions>),
} satisfies OptionTree;
