import { unprocessable } from './unprocessable.js';

/** A mailed link as one parameter, which the pages of the frontend send back unread. */
export const hashOf = (url: string): string => Buffer.from(url).toString('base64url');

/** The link in a hash. */
export function linkOf(hash: string): URL {
  const text = Buffer.from(hash, 'base64url').toString();
  if (!URL.canParse(text)) {
    throw unprocessable({ hash: 'invalidHash' });
  }
  return new URL(text);
}
