/** What a user row holds of a second factor. Enabled is one with a secret and a date of confirmation. */
export interface StoredSecondFactor {
  /** The TOTP secret, encrypted; null where there is none. */
  secret: string | null;
  /** JSON array of the hashes of the recovery codes that are left. */
  recoveryCodes: string | null;
  /** When the user proved that the authenticator works; null while enrolment is pending. */
  confirmedAt: Date | null;
}

/** A user without a second factor. */
export const NO_SECOND_FACTOR: Readonly<StoredSecondFactor> = { secret: null, recoveryCodes: null, confirmedAt: null };
