/**
 * A replaced refresh token came back after the grace window: someone has a copy. Emitted after the
 * session was ended, and for this reason only.
 *
 * @publicApi
 */
export class RefreshTokenReused {
  readonly reason = 'reuse';

  constructor(readonly familyId: string) {}
}
