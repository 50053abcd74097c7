/** A path without slashes at its ends, as prefixes are joined from. */
export const trimSlashes = (path: string): string => path.replace(/^\/+|\/+$/g, '');
