/**
 * A user reset a forgotten password through a mailed link. All sessions have ended, unless
 * `passwordReset.revokeSessions` is off. Worth a mail to the account's owner.
 *
 * @publicApi
 */
export class PasswordReset {
  constructor(readonly user: object) {}
}
