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
