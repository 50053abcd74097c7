/** Which sessions were started with an explicit list of abilities. The sessions know. */
export abstract class Pins {
  /** Asks the primary. @throws StoreUnavailable */
  abstract isPinned(familyId: string): Promise<boolean>;
}
