const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID in its usual form (RFC 9562 §4), in either case. */
export const isUuid = (text: string): boolean => UUID.test(text);

/** An id in its one spelling: a UUID in lower case, as ours are; what is none to the letter. */
export const canonicalId = (id: string): string => (isUuid(id) ? id.toLowerCase() : id);

/** A name as PostgreSQL takes it to the letter, whatever characters it has. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The same of a table that may be named with its schema: `crm.users`. */
export const quotedPath = (path: string): string => path.replaceAll(/[^.]+/g, quoted);

/** A configured URL with parameters added to whatever query it has. */
export const withQuery = (url: string, params: Readonly<Record<string, string>>): string =>
  `${url}${url.includes('?') ? '&' : '?'}${Object.entries(params)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')}`;
