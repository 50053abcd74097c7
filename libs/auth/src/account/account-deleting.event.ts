/**
 * An account is about to be erased. Unlike every other event it is waited for, and a listener that throws keeps
 * the account: an `HttpException` is the answer then. The user's sessions have ended by now and stay so.
 *
 * @publicApi
 */
export class AccountDeleting {
  constructor(
    readonly user: object,
    readonly guard: string,
  ) {}
}
