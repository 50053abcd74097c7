/** Where a session was started from, as its owner will recognise it in a list. */
export interface ClientInfo {
  ip: string | null;
  userAgent: string | null;
}

/** A text as a column takes it: cut off at `length` characters, never within one, without NUL; null for no text. */
export const clip = (value: unknown, length: number): string | null =>
  (typeof value === 'string' && charactersOf(value, length).join('').replaceAll('\0', '')) || null;

const charactersOf = (text: string, most: number): string[] => [...text].slice(0, most);

export const clientInfo = (request: { ip?: unknown; headers?: { 'user-agent'?: unknown } }): ClientInfo => ({
  ip: clip(request.ip, 64),
  userAgent: clip(request.headers?.['user-agent'], 512),
});
