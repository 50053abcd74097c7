/** A sent parameter: its parts, and the text around each part. */
export interface Parameter {
  kind: 'plain' | 'json';
  /** The texts between the parts: one more than there are parts. */
  around: string[];
  parts: (string | null)[];
}

// String values, but not member names. Their quotes are not part of the match.
const LEAVES = /(?<=[[:,]")(?:[^"\\]|\\.)*(?="(?!:))|(?<=[[:,])(?:-?\d[\d.eE+-]*|true|false|null)/g;

/** Splits a parameter into parts: a batch of one is sent as JSON, whose members have different sources. */
export function parameterOf(value: string | null): Parameter {
  if (value === null || !isJson(value)) return { kind: 'plain', around: ['', ''], parts: [value] };
  return { kind: 'json', around: value.split(LEAVES), parts: value.match(LEAVES) ?? [] };
}

function isJson(value: string): boolean {
  if (!/^[[{]/.test(value)) return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}
