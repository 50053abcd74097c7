/**
 * The limit on failed logins refused an attempt. Not the persistent lockout: that is `AccountLocked`.
 *
 * @publicApi
 */
export class Lockout {
  /** @param request the HTTP request that was refused */
  constructor(readonly request: object) {}
}
