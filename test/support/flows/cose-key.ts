import type { KeyObject } from 'node:crypto';

type CoseKey = Map<number, number | Uint8Array>;

/** The COSE key of an RSA or EC key. The `crv` of every EC key is P-256, whatever its curve. */
export function coseKeyOf(publicKey: KeyObject): CoseKey {
  const { kty, x, y, n, e } = publicKey.export({ format: 'jwk' });
  const bytesOf = (text: unknown): Buffer => Buffer.from(String(text), 'base64url');
  const ofRsa: [number, number | Uint8Array][] = [
    [1, 3],
    [3, -257],
    [-1, bytesOf(n)],
    [-2, bytesOf(e)],
  ];
  const ofCurve: typeof ofRsa = [
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, bytesOf(x)],
    [-3, bytesOf(y)],
  ];
  return new Map(kty === 'RSA' ? ofRsa : ofCurve);
}
