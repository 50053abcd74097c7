import { unprocessable } from './unprocessable.js';

const invalidHash = () => unprocessable({ hash: 'invalidHash' });

/** A mailed link as one parameter, which the pages of the frontend send back unread. */
export const hashOf = (url: string): string => Buffer.from(url).toString('base64url');

/** The link in a hash. */
export function linkOf(hash: string): URL {
  const text = Buffer.from(hash, 'base64url').toString();
  if (!URL.canParse(text)) {
    throw invalidHash();
  }
  return new URL(text);
}

/** A parameter of a link. The link of another letter may not have it. */
export function parameterOf(link: URL, name: string): string {
  const value = link.searchParams.get(name);
  if (!value) {
    throw invalidHash();
  }
  return value;
}
