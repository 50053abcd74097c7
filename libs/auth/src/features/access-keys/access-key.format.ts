import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** The parts of a key. */
export interface AccessKeyParts {
  /** 128 random bits, as a UUID. */
  readonly id: string;
  /** 256 random bits, as 64 lowercase hex characters. */
  readonly secret: string;
}

/** A prefix that a host can configure: it names the product, so that a scanner of secrets knows where a key belongs. */
export const isKeyPrefix = (text: string): boolean => /^[a-z][a-z0-9]{1,15}$/.test(text);

/**
 * A new key. Its text is `<prefix>_<id>_<secret><crc>`, each of the last three in lowercase hex. The CRC-32 of what stands before
 * it protects nothing: a scanner recognizes a key by it, and a mistyped key costs no query.
 */
export function newAccessKey(prefix: string): AccessKeyParts & { readonly text: string } {
  const [id, secret] = [randomBytes(16).toString('hex'), randomBytes(32).toString('hex')];
  const body = `${prefix}_${id}_${secret}`;
  return { id: uuidOf(id), secret, text: body + checksumOf(body) };
}

const KEY = /^([a-z][a-z0-9]{1,15})_([0-9a-f]{32})_([0-9a-f]{64})([0-9a-f]{8})$/;

/**
 * Reads a credential without a call of a store. Each key has one spelling only, so that a list of revoked texts is complete.
 *
 * @returns null for what is no key of this prefix: another form, another prefix, or a wrong checksum
 */
export function parseAccessKey(credential: string, prefix: string): AccessKeyParts | null {
  const [, found, id, secret, checksum] = KEY.exec(credential) ?? [];
  if (found !== prefix || id === undefined || secret === undefined) return null;
  return checksumOf(`${found}_${id}_${secret}`) === checksum ? { id: uuidOf(id), secret } : null;
}

/** The checksum reveals nothing: a reader of the key has all of what it is made from. */
const checksumOf = (body: string): string => crc32(body).toString(16).padStart(8, '0');

const uuidOf = (hex: string): string => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
