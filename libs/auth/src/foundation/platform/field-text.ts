/**
 * A part of an HTTP field without the whitespace that may surround it: spaces and tabs (RFC 9110 §5.6.3, RFC 6265 §5.2).
 * `String.trim` removes other characters, too, such as U+00A0. Names that differ for a browser would be equal here.
 */
export const fieldText = (part: string): string => part.replaceAll(/^[ \t]+|[ \t]+$/g, '');
