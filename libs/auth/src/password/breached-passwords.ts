/**
 * Knows passwords that came out in data breaches.
 *
 * @publicApi
 */
export abstract class BreachedPasswords {
  /**
   * Whether this password was in a breach. A throw says that it could not be found out.
   *
   * @param signal ends what the caller no longer waits for
   */
  abstract has(password: string, signal: AbortSignal): Promise<boolean>;
}
