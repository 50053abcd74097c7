/** A parameter as it was sent: what it consists of, and the text around each part. */
export interface Parameter {
  kind: 'plain' | 'json';
  /** One more than there are parts. */
  around: string[];
  parts: (string | null)[];
}

// Strings, but no names of members; their quotes are around them.
const LEAVES = /(?<=[[:,]")(?:[^"\\]|\\.)*(?="(?!:))|(?<=[[:,])(?:-?\d[\d.eE+-]*|true|false|null)/g;

/** Takes a parameter apart: a batch of one is sent as JSON, whose members are of different origin. */
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
