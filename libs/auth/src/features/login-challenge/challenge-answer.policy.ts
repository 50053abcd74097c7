/** An answer that consists of fields of a body. */
export interface AnswerFields {
  readonly fields: readonly string[];
}

/** The reason why a body is not a valid answer, and the fields that are reported. */
export interface NoAnswer {
  readonly problem: 'one_too_many' | 'missing';
  readonly fields: readonly string[];
}

/**
 * Returns the single answer in a body; null without one. Two factors in one attempt would be two guesses that count once, and
 * an invalid answer that locks nothing, beside one that does, would bypass the lock. Pure.
 */
export function answerIn<Answer extends AnswerFields>(
  answers: readonly Answer[],
  body: object,
): Answer | NoAnswer | null {
  const isSent = (field: string): boolean => ((body as Readonly<Record<string, unknown>>)[field] ?? null) !== null;
  const sent = answers.filter(({ fields }) => fields.some(isSent));
  const [answer] = sent;
  if (!answer) return null;
  if (sent.length > 1) return { problem: 'one_too_many', fields: sent.flatMap(({ fields }) => fields.filter(isSent)) };
  const missing = answer.fields.filter((field) => !isSent(field));
  return missing.length ? { problem: 'missing', fields: missing } : answer;
}
