/**
 * A user registered.
 *
 * @publicApi
 */
export class Registered {
  constructor(readonly user: object) {}
}
