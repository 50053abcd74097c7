import { hash, randomBytes } from 'node:crypto';

/** 256 random bits as 64 lowercase hex characters: a refresh token, an HMAC secret. */
export const newSecret = (): string => randomBytes(32).toString('hex');

/** SHA-256 of the UTF-8 text as 64 hex characters. Enough at rest for values of full entropy only. */
export const sha256 = (text: string): string => hash('sha256', text, 'hex');
