const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID in its usual form (RFC 9562 §4), in either case. */
export const isUuid = (text: string): boolean => UUID.test(text);

/** An id in its one spelling: a UUID in lower case, as ours are; what is none to the letter. */
export const canonicalId = (id: string): string => (isUuid(id) ? id.toLowerCase() : id);
