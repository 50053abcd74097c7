/** A name as PostgreSQL takes it to the letter, whatever characters it has. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The same of a table that may be named with its schema: `crm.users`. */
export const quotedPath = (path: string): string => path.replaceAll(/[^.]+/g, quoted);
