import type { AccessClaims } from './types.js';

const charsOf = (text: string): string => atob(text.replaceAll('-', '+').replaceAll('_', '/'));

/** The bytes of a text in base64url. */
export const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(charsOf(text), (char) => char.charCodeAt(0));

/** The UTF-8 in base64url. React Native has no `TextDecoder`. */
const textOf = (text: string): string => decodeURIComponent(escape(charsOf(text)));

/** Reads the claims without verifying the signature: only the server decides whether a token is valid. */
export const claimsOf = (token: string): AccessClaims => JSON.parse(textOf(token.split('.')[1]!));

/** The base64url of bytes, without padding. */
export const base64urlOf = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
