/**
 * A user proved that the email address is theirs. Emitted once per address.
 *
 * @publicApi
 */
export class Verified {
  /** @param user as read before: not verified yet */
  constructor(readonly user: object) {}
}
