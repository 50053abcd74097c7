/** The answer to a login challenge: one second factor. */
export type ChallengeAnswer =
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'recovery_code'; readonly code: string }
  | { readonly kind: 'passkey'; readonly ceremonyId: string; readonly credential: object };

/** The fields of a body that can contain a second factor; null for absent fields. */
export interface AnswerFields {
  readonly code: string | null;
  readonly recovery_code: string | null;
  readonly ceremony_id: string | null;
  readonly credential: object | null;
}

/** The reason why a body is not a valid answer, and the fields that are reported. */
export interface NoAnswer {
  readonly problem: 'one_too_many' | 'missing';
  readonly fields: readonly string[];
}

/**
 * Returns the single factor in a body. Two factors in one attempt would be two guesses that count once, and an invalid
 * recovery code beside a TOTP code would bypass the lock for TOTP codes. A body without a factor counts as an empty code,
 * which is wrong.
 */
export function answerIn({ code, recovery_code, ceremony_id, credential }: AnswerFields): ChallengeAnswer | NoAnswer {
  const sent = Object.entries({ code, recovery_code, ceremony_id, credential }).filter(([, value]) => value !== null);
  const fields = sent.map(([field]) => field);
  const isPasskey = ceremony_id !== null || credential !== null;
  const factors = [code !== null, recovery_code !== null, isPasskey].filter(Boolean).length;
  if (factors > 1) return { problem: 'one_too_many', fields };
  if (recovery_code !== null) return { kind: 'recovery_code', code: recovery_code };
  if (!isPasskey) return { kind: 'code', code: code ?? '' };
  if (ceremony_id === null) return { problem: 'missing', fields: ['ceremony_id'] };
  if (credential === null) return { problem: 'missing', fields: ['credential'] };
  return { kind: 'passkey', ceremonyId: ceremony_id, credential };
}
