/**
 * A user confirmed a second factor: from now on the login asks for it.
 *
 * @publicApi
 */
export class TwoFactorEnabled {
  constructor(
    readonly userId: string,
    readonly guard: string,
  ) {}
}
