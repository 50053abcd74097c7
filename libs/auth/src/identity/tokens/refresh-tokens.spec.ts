import * as fc from 'fast-check';
import { createHmac } from 'node:crypto';
import type { AuthConfig } from '../../foundation/config/auth-config';
import type { Realm } from '../../foundation/realm/realm';
import { RefreshTokens, parseRefreshToken } from './refresh-tokens';

const FAMILY = '0f1e2d3c-4b5a-4697-8877-665544332211';
const SALT = Buffer.from('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f', 'hex');
const ROOT = 'a root that is configured and stored nowhere';
const OTHER = 'another root that is configured and stored nowhere';
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

interface Roots {
  key?: string;
  previousKeys?: string[];
  secret?: string;
  previousSecrets?: string[];
}

const tokensOf = ({ key, previousKeys = [], secret, previousSecrets = [] }: Roots, guard = 'api'): RefreshTokens =>
  new RefreshTokens(
    { guard, options: { secret, previousSecrets } } as unknown as Realm,
    { encryption: { key, previousKeys } } as unknown as AuthConfig,
  );

const tokens = tokensOf({ key: ROOT });
const bytesOf = (token: string): Buffer => Buffer.from(token, 'base64url');
const isGenuine = (by: RefreshTokens, token: string, salt = SALT): boolean => {
  const parsed = parseRefreshToken(token);
  return parsed !== null && by.isGenuine(parsed, salt);
};

/** The documented construction with HMAC only: RFC 5869 §2.2 and §2.3, with one block for 32 bytes. */
function independently(root: string, salt: Buffer, guard: string, family: string, generation: number): string {
  const hmac = (key: Buffer, ...parts: (string | Buffer)[]): Buffer =>
    parts.reduce((mac, part) => mac.update(part), createHmac('sha256', key)).digest();
  const extracted = hmac(Buffer.alloc(32), root);
  const key = hmac(extracted, `svc.refresh:${guard}`, Buffer.of(1));
  const familyBytes = Buffer.from(family.replaceAll('-', ''), 'hex');
  const number = Buffer.from(generation.toString(16).padStart(8, '0'), 'hex');
  return Buffer.concat([Buffer.of(1), familyBytes, number, hmac(key, salt, familyBytes, number)]).toString('base64url');
}

describe('a refresh token', () => {
  it('has the documented value', () => {
    // Computed with three calls of `openssl dgst -sha256 -mac HMAC`.
    expect(tokens.mint(FAMILY, 258, SALT)).toBe(
      'AQ8eLTxLWkaXiHdmVUQzIhEAAAECEDUJ8xl80pAdp-6wof75hbvNWXF_I7u1q7gymgkrUyU',
    );
  });

  it('equals that of an independent implementation for any root, salt, guard, session and generation', () => {
    const text = fc.string({ minLength: 1, maxLength: 80 });
    const roots = fc.string({ minLength: 32, maxLength: 80 });
    const salts = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
    const generations = fc.oneof(fc.nat(300), fc.integer({ min: 0, max: 2 ** 32 - 1 }));
    fc.assert(
      fc.property(roots, salts, text, fc.uuid(), generations, (root, salt, guard, family, generation) => {
        const by = tokensOf({ key: root }, guard);
        const token = by.mint(family, generation, salt);
        expect(token).toBe(independently(root, salt, guard, family, generation));
        expect(token).toMatch(/^[\w-]{71}$/);
        expect(parseRefreshToken(token)).toMatchObject({ familyId: family, generation });
        expect(isGenuine(by, token, salt)).toBe(true);
      }),
    );
  });

  it.each(['', 's', 'x'.repeat(31)])('is never made with a short root such as %j', (text) => {
    expect(() => tokensOf({ key: text, secret: text }).mint(FAMILY, 0, SALT)).toThrow('root');
    const forged = independently(text, SALT, 'api', FAMILY, 0);
    expect(isGenuine(tokensOf({ previousKeys: [text], secret: text, previousSecrets: [text] }), forged)).toBe(false);
  });

  it('is always the same for one generation, and different for each generation', () => {
    const all = Array.from({ length: 300 }, (_, generation) => tokens.mint(FAMILY, generation, SALT));
    expect(new Set(all).size).toBe(300);
    expect(all.map((_, generation) => tokens.mint(FAMILY, generation, SALT))).toEqual(all);
  });

  it('with any bit flipped is refused', () => {
    const token = tokens.mint(FAMILY, 258, SALT);
    const { length } = bytesOf(token);
    expect(length).toBe(53);
    for (let bit = 0; bit < 8 * length; bit++) {
      const bytes = bytesOf(token);
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      expect([bit, isGenuine(tokens, bytes.toString('base64url'))]).toEqual([bit, false]);
    }
  });

  it.each([0, 2, 129, 255])('is refused with version %i', (version) => {
    const bytes = bytesOf(tokens.mint(FAMILY, 0, SALT));
    bytes[0] = version;
    expect(parseRefreshToken(bytes.toString('base64url'))).toBeNull();
  });

  it('has one encoding', () => {
    const token = tokens.mint(FAMILY, 258, SALT);
    const others = [...ALPHABET].map((last) => token.slice(0, -1) + last).filter((other) => other !== token);
    const sameBytes = others.filter((other) => bytesOf(other).equals(bytesOf(token)));
    expect(sameBytes).toHaveLength(3);
    for (const other of sameBytes) expect(parseRefreshToken(other)).toBeNull();
  });

  it('is no other text', () => {
    const token = tokens.mint(FAMILY, 2 ** 32 - 1, SALT);
    // Texts with the length of a token, with a character that a decoder may skip or read as another one.
    const withOne = (one: string): string => one + token.slice(one.length);
    const texts = ['', 'A', token.slice(1), token.slice(0, -1), `${token}A`, `${token}=`, ` ${token}`, `${token}\n`];
    const spelled = ['+', '/', '=', ' ', '\n', '\0', 'é', '😀', '%2', '.'].flatMap((one) => [
      withOne(one),
      token.slice(0, -one.length) + one,
    ]);
    for (const text of [...texts, ...spelled, 'f'.repeat(64), '='.repeat(71), '\ud800'.repeat(71)])
      expect([text, parseRefreshToken(text)]).toEqual([text, null]);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 65, maxLength: 75 }), (text) => {
        expect(parseRefreshToken(text) === null || bytesOf(text).toString('base64url') === text).toBe(true);
        expect(isGenuine(tokens, text)).toBe(false);
      }),
    );
  });

  it('is not genuine with another guard, salt or root', () => {
    const token = tokens.mint(FAMILY, 3, SALT);
    const otherSalt = Buffer.from(SALT);
    otherSalt[31]! ^= 1;
    expect(isGenuine(tokensOf({ key: ROOT }, 'admin'), token)).toBe(false);
    expect(isGenuine(tokensOf({ key: ROOT }, 'ap'), token)).toBe(false);
    expect(isGenuine(tokens, token, otherSalt)).toBe(false);
    expect(isGenuine(tokens, token, Buffer.alloc(0))).toBe(false);
    expect(isGenuine(tokensOf({ key: `${ROOT}.` }), token)).toBe(false);
    expect(isGenuine(tokensOf({}), token)).toBe(false);
    expect(isGenuine(tokens, token)).toBe(true);
  });

  it('is made with the encryption key, otherwise with the secret', () => {
    const token = (roots: Roots): string => tokensOf(roots).mint(FAMILY, 0, SALT);
    const others = { previousKeys: [OTHER], previousSecrets: [OTHER] };
    expect(token({ key: ROOT, secret: OTHER, ...others })).toBe(token({ key: ROOT }));
    expect(token({ secret: ROOT, ...others })).toBe(token({ key: ROOT }));
  });

  it.each<[string, Roots]>([
    ['a former key', { key: OTHER, previousKeys: ['x', ROOT] }],
    ['a former secret', { secret: OTHER, previousSecrets: ['x', ROOT] }],
    ['the secret, from before an encryption key was configured', { key: OTHER, secret: ROOT }],
    [
      'a former secret, from before an encryption key was configured',
      { key: OTHER, secret: 'x', previousSecrets: [ROOT] },
    ],
  ])('is genuine under %s', (_, roots) => {
    expect(isGenuine(tokensOf(roots), tokens.mint(FAMILY, 3, SALT))).toBe(true);
  });

  it('cannot be made without a configured root', () => {
    expect(() => tokensOf({}).mint(FAMILY, 0, SALT)).toThrow(/SVC_ENCRYPTION_KEY/);
  });

  it('can be made with a root of 32 bytes in fewer characters', () => {
    const short = tokensOf({ key: 'ü'.repeat(16) });
    expect(isGenuine(short, short.mint(FAMILY, 0, SALT))).toBe(true);
  });
});
