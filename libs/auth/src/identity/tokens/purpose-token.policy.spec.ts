import { isPurposeToken } from './purpose-token.policy';

const NOW = 1_800_000_000;
const expected = { type: 'reauth+challenge', issuer: 'i', audience: ['a', 'b'], guard: 'api', leeway: 5, longest: 300 };
const header = { typ: 'reauth+challenge', alg: 'HS256' };
const claims = {
  iss: 'i',
  aud: ['a', 'b'],
  sub: '1',
  jti: 'j',
  fid: 'f',
  gid: 'api',
  iat: NOW,
  nbf: NOW,
  exp: NOW + 300,
};
const judged = (changes: object, head: object = {}): boolean =>
  isPurposeToken({ ...header, ...head }, { ...claims, ...changes }, expected, NOW);

describe('a purpose token passes', () => {
  it.each<[string, object]>([
    ['as it was minted', {}],
    ['without a session', { fid: undefined }],
    ['with a fingerprint', { fpr: 'p' }],
    ['bound to the data of the store', { sto: 'e' }],
    ['without a guard, from before guards were stamped', { gid: undefined }],
    ['until its end and the leeway', { exp: NOW - 4 }],
    ['that ends within the leeway after its longest life', { exp: NOW + 305 }],
    ['within the leeway before its start', { nbf: NOW + 5 }],
    ['without a start', { nbf: undefined, iat: undefined }],
    ['with other claims', { tenant: 't' }],
  ])('%s', (_, changes) => expect(judged(changes)).toBe(true));
});

describe('a purpose token does not pass', () => {
  it.each<[string, object]>([
    ['for another guard', { gid: 'admin' }],
    ['bound to data whose name is no text', { sto: 7 }],
    ['bound to data without a name', { sto: '' }],
    ['for a guard that is no text', { gid: null }],
    ['of another issuer', { iss: 'x' }],
    ['of no issuer', { iss: undefined }],
    ['for one audience of two', { aud: ['a'] }],
    ['for one audience more', { aud: ['a', 'b', 'c'] }],
    ['for the audiences in another order', { aud: ['b', 'a'] }],
    ['for an audience as text', { aud: 'a' }],
    ['for no audience', { aud: undefined }],
    ['for something like a list', { aud: { 0: 'a', 1: 'b', length: 2 } }],
    ['without a subject', { sub: undefined }],
    ['with an empty subject', { sub: '' }],
    ['with a number as subject', { sub: 1 }],
    ['with a list as subject', { sub: ['1'] }],
    ['without an id', { jti: undefined }],
    ['with an empty id', { jti: '' }],
    ['with a number as id', { jti: 7 }],
    ['with a list as session', { fid: ['f'] }],
    ['with null as session', { fid: null }],
    ['with an empty session', { fid: '' }],
    ['with a list as fingerprint', { fpr: ['p'] }],
    ['with null as fingerprint', { fpr: null }],
    ['with an empty fingerprint', { fpr: '' }],
    ['without an end', { exp: undefined }],
    ['with an end that is text', { exp: String(NOW + 300) }],
    ['with a fractional end', { exp: NOW + 0.5 }],
    ['with an endless end', { exp: Infinity }],
    ['that lives longer than any of its purpose', { exp: NOW + 306 }],
    ['that never expires', { exp: 1e18 }],
    ['at its end and the leeway', { exp: NOW - 5 }],
    ['before its start', { nbf: NOW + 6 }],
    ['with a start that is text', { nbf: String(NOW) }],
  ])('%s', (_, changes) => expect(judged(changes)).toBe(false));

  it.each<[string, object]>([
    ['of another purpose', { typ: '2fa+challenge' }],
    ['as an access token', { typ: 'at+jwt' }],
    ['in capitals', { typ: 'REAUTH+CHALLENGE' }],
    ['without a type', { typ: undefined }],
    ['with critical extensions', { crit: ['b64'] }],
  ])('%s', (_, head) => expect(judged({}, head)).toBe(false));
});
