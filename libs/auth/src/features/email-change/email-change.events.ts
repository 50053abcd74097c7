/**
 * A user has asked for a change of the email. Emitted also if the new address has an account, and gets no link.
 *
 * @publicApi
 */
export class EmailChangeRequested {
  constructor(
    readonly userId: string,
    readonly guard: string,
  ) {}
}

/**
 * The email of a user was changed, by the link that was mailed to the new address. The new one is verified; `Verified` is not
 * emitted.
 *
 * @publicApi
 */
export class EmailChanged {
  constructor(
    readonly userId: string,
    readonly guard: string,
    /** The former email; null for a user without one. */
    readonly from: string | null,
    readonly to: string,
  ) {}
}

/**
 * A change of email was undone, by the link that was mailed to the former address. The account may have been in the hands of
 * another person: all its sessions have ended, and its password was replaced. A good reason for an alarm.
 *
 * @publicApi
 */
export class EmailChangeUndone {
  constructor(
    readonly userId: string,
    readonly guard: string,
    /** The email that the account had until now. */
    readonly from: string | null,
    /** The former email, which it has again. */
    readonly to: string,
  ) {}
}
