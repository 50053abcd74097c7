/**
 * A session has more live refresh tokens than `forkThreshold`: replays inside the grace window keep
 * minting siblings. A client that retries wildly looks the same as a thief who is quick.
 *
 * @publicApi
 */
export class RefreshFamilyForked {
  constructor(
    readonly userId: string,
    readonly familyId: string,
    /** Live refresh tokens, the new one included. */
    readonly liveTokens: number,
  ) {}
}
