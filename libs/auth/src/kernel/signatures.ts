import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/**
 * Signs what leaves the application and comes back, such as a mailed link: HMAC-SHA256 under keys derived from
 * the configured texts (RFC 5869). The first key signs, every key verifies.
 */
export class Signatures {
  private readonly keys: readonly Buffer[];

  /** @param purpose keeps what is signed for one from passing for another */
  constructor(texts: readonly string[], purpose: string) {
    this.keys = texts.map((text) => Buffer.from(hkdfSync('sha256', Buffer.from(text, 'utf8'), '', purpose, 32)));
  }

  sign(text: string): string {
    return mac(this.keys[0]!, text);
  }

  verify(text: string, signature: string): boolean {
    return this.keys.some((key) => isEqual(mac(key, text), signature));
  }
}

const mac = (key: Buffer, text: string): string => createHmac('sha256', key).update(text).digest('hex');

/** In a time that tells nothing of where two texts differ. */
export function isEqual(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}
