/** A right answer that is still good. */
export interface FactorMatch {
  /** How the user authenticated besides the password (RFC 8176). */
  readonly amr: string;
  /** Uses the answer up; false where someone else just did. Decided atomically. */
  spend(): Promise<boolean>;
}
