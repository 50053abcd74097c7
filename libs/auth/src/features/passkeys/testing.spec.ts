import { generateKeyPairSync } from 'node:crypto';
import { coseKeyOf } from './testing';

describe('the COSE key of an authenticator for tests', () => {
  it('does not need the export of a generated key as JWK, which can hang on Node 20', () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const exported = jest.spyOn(publicKey, 'export');
    expect([...coseKeyOf(publicKey).keys()]).toEqual([1, 3, -1, -2, -3]);
    expect(exported.mock.calls.map(([options]) => options?.format)).toEqual(['pem']);
  });
});
