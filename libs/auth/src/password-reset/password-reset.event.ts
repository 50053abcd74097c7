/**
 * A user reset a forgotten password through a mailed link. Worth a mail to the account's owner.
 *
 * @publicApi
 */
export class PasswordReset {
  constructor(readonly user: object) {}
}
