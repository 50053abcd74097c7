/**
 * A passkey signed with a count that is not above the one it signed with before: there may be a copy of it. The
 * attempt was refused and the passkey kept. Ask its owner, and delete it if in doubt.
 *
 * @publicApi
 */
export class PasskeyCloneDetected {
  constructor(
    readonly userId: string,
    readonly credentialId: string,
    readonly guard: string,
  ) {}
}
