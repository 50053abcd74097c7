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
  it('are found by their `kid`', () => {
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
    ['with null as use', jwk(P256, { use: null })],
    ['for another algorithm', jwk(RSA, { alg: 'PS256' }), 'RS256'],
    ['of RSA with the algorithm ES256', jwk(RSA)],
    ['of an elliptic curve with the algorithm RS256', jwk(P256), 'RS256'],
    ['of another curve', jwk(P384)],
    ['of RSA with fewer than 2048 bits', jwk(WEAK), 'RS256'],
    ['that is private', jwk(P256, { d })],
    ['that is private, of RSA', { ...RSA.privateKey.export({ format: 'jwk' }), kid: 'k1' }, 'RS256'],
    ['that is symmetric', { kty: 'oct', k: 'c2VjcmV0', kid: 'k1' }],
    ['without `kid`', jwk(P256, { kid: undefined })],
    ['with an empty `kid`', jwk(P256, { kid: '' })],
    ['with a number as `kid`', jwk(P256, { kid: 1 })],
    ['with a point that is not on its curve', jwk(P256, { x: jwk(ec()).x })],
    ['without `y`', jwk(P256, { y: undefined })],
    ['that is null', null],
    ['that is a string', 'k1'],
    ['that is a list', []],
  ])('do not include a key %s, and include the other key', (_, key, algorithm = 'ES256') => {
    const good = jwk(algorithm === 'ES256' ? P256 : RSA, { kid: 'good' });
    expect(kidsOf([key, good], algorithm)).toEqual(['good']);
  });

  it.each([undefined, null, 'keys', [], {}, { keys: null }, { keys: {} }])('cannot be read from %j', (set) => {
    expect(() => verifyingKeys(set, 'ES256')).toThrow('no JWK Set');
  });

  it('are limited to 100, including those that cannot be used', () => {
    const others = Array.from({ length: 99 }, () => ({ kty: 'oct' }));
    expect(kidsOf([...others, jwk(P256)])).toEqual(['k1']);
    expect(() => kidsOf([...others, {}, jwk(P256)])).toThrow('more than 100 keys');
  });

  it('may be an empty list', () => expect(kidsOf([])).toEqual([]));
});
