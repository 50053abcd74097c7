/**
 * An account is gone, and with it everything the library knew of it. The last time that its identifier is told.
 *
 * @publicApi
 */
export class AccountDeleted {
  constructor(
    readonly userId: string,
    /** What its user signed in with; null where there was nothing. */
    readonly identifier: string | null,
    readonly guard: string,
  ) {}
}

/**
 * An account is about to be erased; each attempt is announced. Unlike every other event it is waited for, for 30
 * seconds, and a listener that throws keeps the account: an `HttpException` is the answer then. The user's sessions
 * have ended by now and stay so; nothing else is done, and no transaction is open.
 *
 * @publicApi
 */
export class AccountDeleting {
  constructor(
    readonly user: object,
    readonly guard: string,
  ) {}
}
