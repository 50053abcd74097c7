/** Where a session was started from, as its owner will recognise it in a list. */
export interface ClientInfo {
  ip: string | null;
  userAgent: string | null;
}

/** A text as a column takes it: cut off at `length`, without NUL; null for what is no text. */
export const clip = (value: unknown, length: number): string | null =>
  typeof value === 'string' && value ? value.slice(0, length).replaceAll('\0', '') : null;

export const clientInfo = (request: { ip?: unknown; headers?: { 'user-agent'?: unknown } }): ClientInfo => ({
  ip: clip(request.ip, 64),
  userAgent: clip(request.headers?.['user-agent'], 512),
});
