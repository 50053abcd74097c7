/** Someone who waits for a hash. */
export interface Applicant {
  /** Hashes had lately: by the client, then for the account it names. */
  readonly uses: readonly number[];
}

/** Negative where `a` has the better claim: the client that has had less, then the account that has. */
export function compared(a: Applicant, b: Applicant): number {
  const length = Math.max(a.uses.length, b.uses.length);
  for (let i = 0; i < length; i++) {
    const difference = (a.uses[i] ?? 0) - (b.uses[i] ?? 0);
    if (difference) return difference;
  }
  return 0;
}

/** Who is next: the best claim, the first of equals. -1 where nobody waits. */
export const nextOf = (waiting: readonly Applicant[]): number =>
  waiting.reduce((best, one, i) => (best < 0 || compared(one, waiting[best]!) < 0 ? i : best), -1);

/** Who gives way when one too many waits: the worst claim, the last of equals. */
export const lastOf = (waiting: readonly Applicant[]): number =>
  waiting.reduce((worst, one, i) => (worst < 0 || compared(one, waiting[worst]!) >= 0 ? i : worst), -1);
