/**
 * A token was refused for want of an ability.
 *
 * @publicApi
 */
export class TokenAbilityDenied {
  constructor(
    readonly userId: string,
    readonly guard: string,
    /** The session; null for a token of a co-issuer that names none. */
    readonly familyId: string | null,
    readonly required: readonly string[],
    /** Whether all of {@link required} were needed, or any. */
    readonly requiresAll: boolean,
  ) {}
}
