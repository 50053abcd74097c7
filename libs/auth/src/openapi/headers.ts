import { INTEGER, type Schema, TEXT, of } from './schema';

/** A header of an answer. */
export interface HeaderObject {
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

const KNOWN: Readonly<Record<string, Schema>> = {
  'Retry-After': of(INTEGER, 'Seconds to wait.'),
  'WWW-Authenticate': of(TEXT, 'What the bearer credential lacks (RFC 6750, RFC 9470).'),
  'X-RateLimit-Limit': of(INTEGER, 'Requests that the tightest limit allows in its window.'),
  'X-RateLimit-Remaining': of(INTEGER, 'Requests it has left.'),
  'X-RateLimit-Reset': of(INTEGER, 'When it has room again, in unix seconds.'),
  'Set-Cookie': of(TEXT, 'The refresh cookie: set with new tokens, removed with its session.'),
  Location: of(TEXT, 'The page of the application that takes over.'),
};

/** A header by its name. @param value what it always is, where it is always the same */
export function header(name: string, required: boolean, value?: string): HeaderObject {
  const { description, ...schema } = KNOWN[name] ?? TEXT;
  return {
    ...(typeof description === 'string' && { description }),
    ...(required && { required }),
    schema: value === undefined ? schema : { ...schema, enum: [value] },
  };
}
