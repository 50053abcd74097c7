import type { MessageKey } from '../kernel/messages';

/** What a client is told of a request that could not be read. */
export interface Unreadable {
  readonly status: 400 | 413 | 415;
  readonly key: MessageKey;
}

/** Every kind. */
export const UNREADABLE: readonly Unreadable[] = [
  { status: 400, key: 'request.unreadable' },
  { status: 413, key: 'request.too_large' },
  { status: 415, key: 'request.unsupported' },
];

/**
 * What a failure before any route means, where it is one of reading the request; null for all others, which are
 * the host's own. Pure.
 *
 * Express's body parsers name the kind of failure in `type`, Fastify's and decompression in `code`, and a path with a
 * broken escape is a `URIError`. Their texts quote the request, so none of them is passed on.
 */
export function unreadable(error: unknown): Unreadable | null {
  const { status, statusCode = status, type, code } = (error ?? {}) as Record<string, unknown>;
  const ofReading = typeof type === 'string' || /^(Z_|FST_ERR_CTP_)/.test(String(code)) || error instanceof URIError;
  return (ofReading && UNREADABLE.find((outcome) => outcome.status === statusCode)) || null;
}
