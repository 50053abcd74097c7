/**
 * A user changed the own password; all other sessions have ended. Worth a mail to the account's owner.
 *
 * @publicApi
 */
export class PasswordChanged {
  constructor(readonly user: object) {}
}
