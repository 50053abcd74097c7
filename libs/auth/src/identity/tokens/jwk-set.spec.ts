import { type JsonWebKey, generateKeyPairSync } from 'node:crypto';
import { verifyingKeys } from './remote-keys';

const ec = (namedCurve = 'P-256') => generateKeyPairSync('ec', { namedCurve });
const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength });

const [P256, P384, RSA, WEAK] = [ec(), ec('P-384'), rsa(2048), rsa(2040)];
const jwk = ({ publicKey }: ReturnType<typeof ec>, more: object = {}): JsonWebKey => ({
  ...publicKey.export({ format: 'jwk' }),
  kid: 'k1',
  ...more,
});
const kidsOf = (keys: unknown[], algorithm: 'ES256' | 'RS256' = 'ES256'): string[] => [
  ...verifyingKeys({ keys }, algorithm).keys(),
];

describe('the keys of a JWK Set', () => {
  it('are those that it lists, by `kid`', () => {
    const [k1, k2] = [P256, ec()];
    const keys = verifyingKeys({ keys: [jwk(k1), jwk(k2, { kid: 'k2', use: 'sig', alg: 'ES256' })] }, 'ES256');
    expect([...keys.keys()]).toEqual(['k1', 'k2']);
    expect(keys.get('k1')!.equals(k1.publicKey)).toBe(true);
    expect(keys.get('k2')!.equals(k2.publicKey)).toBe(true);
    expect(kidsOf([jwk(RSA)], 'RS256')).toEqual(['k1']);
  });

  const { d } = P256.privateKey.export({ format: 'jwk' });
  it.each<[string, unknown, ('ES256' | 'RS256')?]>([
    ['for encryption', jwk(P256, { use: 'enc' })],
    ['for a use that is null', jwk(P256, { use: null })],
    ['for another algorithm', jwk(RSA, { alg: 'PS256' }), 'RS256'],
    ['of RSA under ES256', jwk(RSA)],
    ['of an elliptic curve under RS256', jwk(P256), 'RS256'],
    ['of another curve', jwk(P384)],
    ['of RSA under 2048 bits', jwk(WEAK), 'RS256'],
    ['that is private', jwk(P256, { d })],
    ['that is private, of RSA', { ...RSA.privateKey.export({ format: 'jwk' }), kid: 'k1' }, 'RS256'],
    ['that is symmetric', { kty: 'oct', k: 'c2VjcmV0', kid: 'k1' }],
    ['without `kid`', jwk(P256, { kid: undefined })],
    ['with an empty `kid`', jwk(P256, { kid: '' })],
    ['with a `kid` that is no text', jwk(P256, { kid: 1 })],
    ['that is off its curve', jwk(P256, { x: jwk(ec()).x })],
    ['that lacks a part', jwk(P256, { y: undefined })],
    ['that is null', null],
    ['that is a text', 'k1'],
    ['that is a list', []],
  ])('leave out one %s, and no other', (_, key, algorithm = 'ES256') => {
    const good = jwk(algorithm === 'ES256' ? P256 : RSA, { kid: 'good' });
    expect(kidsOf([key, good], algorithm)).toEqual(['good']);
  });

  it.each([undefined, null, 'keys', [], {}, { keys: null }, { keys: {} }])('are not found in %j', (set) => {
    expect(() => verifyingKeys(set, 'ES256')).toThrow('no JWK Set');
  });

  it('are at most 100, whether they fit or not', () => {
    const others = Array.from({ length: 99 }, () => ({ kty: 'oct' }));
    expect(kidsOf([...others, jwk(P256)])).toEqual(['k1']);
    expect(() => kidsOf([...others, {}, jwk(P256)])).toThrow('more than 100 keys');
  });

  it('may be none', () => expect(kidsOf([])).toEqual([]));
});
