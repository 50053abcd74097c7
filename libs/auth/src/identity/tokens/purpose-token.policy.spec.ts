import { epochOf, isOfEpoch, isPurposeToken, purposeErrors } from './purpose-token.policy';

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
const isAccepted = (changes: object, head: object = {}): boolean =>
  isPurposeToken({ ...header, ...head }, { ...claims, ...changes }, expected, NOW);

describe('a purpose token is accepted', () => {
  it.each<[string, object]>([
    ['as it was minted', {}],
    ['without a session', { fid: undefined }],
    ['with a fingerprint', { fpr: 'p' }],
    ['for a session that is not remembered', { rem: false }],
    ['after a mailed code', { fst: 'email' }],
    ['after a sign-in elsewhere', { fst: 'fed', org: [1, 'i', 'p'] }],
    ['after a sign-in elsewhere in a session', { fst: 'fed', org: [1, 'i', 'p', 's'] }],
    ['bound to the data of the store', { sto: 'e' }],
    ['minted after an end', { epo: 'a.' }],
    ['without a guard, as former versions minted it', { gid: undefined }],
    ['within the leeway after its expiry', { exp: NOW - 4 }],
    ['with a life that exceeds the longest one by the leeway', { exp: NOW + 305 }],
    ['within the leeway before nbf', { nbf: NOW + 5 }],
    ['without nbf and iat', { nbf: undefined, iat: undefined }],
    ['with additional claims', { tenant: 't' }],
  ])('%s', (_, changes) => expect(isAccepted(changes)).toBe(true));
});

describe('a purpose token is refused', () => {
  it.each<[string, object]>([
    ['for another guard', { gid: 'admin' }],
    ['bound to data with a number as name', { sto: 7 }],
    ['bound to data with an empty name', { sto: '' }],
    ['minted after an end with a number as name', { epo: 7 }],
    ['minted after an end with an empty name', { epo: '' }],
    ['with null as guard', { gid: null }],
    ['of another issuer', { iss: 'x' }],
    ['without an issuer', { iss: undefined }],
    ['with only one of two audiences', { aud: ['a'] }],
    ['with an additional audience', { aud: ['a', 'b', 'c'] }],
    ['with the audiences in another order', { aud: ['b', 'a'] }],
    ['with a string as audience', { aud: 'a' }],
    ['without an audience', { aud: undefined }],
    ['with an array-like object as audience', { aud: { 0: 'a', 1: 'b', length: 2 } }],
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
    ['with true as the claim of a session that is not remembered', { rem: true }],
    ['with a text as the claim of a session that is not remembered', { rem: 'false' }],
    ['with another first method', { fst: 'pwd' }],
    ['with a list as first method', { fst: ['email'] }],
    ['with a text as the account elsewhere', { org: 'i' }],
    ['with no account elsewhere', { org: [] }],
    ['with an empty account elsewhere', { org: [1, ''] }],
    ['with an empty session elsewhere', { org: [1, 'i', 'p', ''] }],
    ['with an account elsewhere without the time of the sign-in', { org: ['i', 'p', 's'] }],
    ['with a further part of an account elsewhere', { org: [1, 'i', 'p', 's', 't'] }],
    ['without exp', { exp: undefined }],
    ['with a string as exp', { exp: String(NOW + 300) }],
    ['with a fractional exp', { exp: NOW + 0.5 }],
    ['with an infinite exp', { exp: Infinity }],
    ['with a longer life than its purpose allows', { exp: NOW + 306 }],
    ['with an exp in the very distant future', { exp: 1e18 }],
    ['at the end of the leeway after its expiry', { exp: NOW - 5 }],
    ['more than the leeway before nbf', { nbf: NOW + 6 }],
    ['with a string as nbf', { nbf: String(NOW) }],
  ])('%s', (_, changes) => expect(isAccepted(changes)).toBe(false));

  it.each<[string, object]>([
    ['of another purpose', { typ: '2fa+challenge' }],
    ['with the type of an access token', { typ: 'at+jwt' }],
    ['with its type in upper case', { typ: 'REAUTH+CHALLENGE' }],
    ['without a type', { typ: undefined }],
    ['with critical extensions', { crit: ['b64'] }],
  ])('%s', (_, head) => expect(isAccepted({}, head)).toBe(false));
});

describe('a purpose token that was minted', () => {
  const [none, ofUser, ofGuard, both, later] = [
    [null, null],
    ['a', null],
    [null, 'g'],
    ['a', 'g'],
    ['b', 'g'],
  ] as const;

  it.each<[string, readonly (string | null)[], readonly (string | null)[], boolean]>([
    ['before any end is valid', none, none, true],
    ['before an end of its user is ended', none, ofUser, false],
    ['before an end of its guard is ended', none, ofGuard, false],
    ['after an end of its user is valid', ofUser, ofUser, true],
    ['after an end of its guard is valid', ofGuard, ofGuard, true],
    ['after both is valid', both, both, true],
    ['between an end of its user and one of its guard is ended', ofUser, both, false],
    ['between two ends of its user is ended', both, later, false],
    ['after an end that the store has forgotten is valid', both, none, true],
    ['after two ends, of which the store has forgotten one, is valid', both, ofGuard, true],
    ['after an end that the store has forgotten, and before another one, is ended', both, ['b', null], false],
  ])('%s', (_, atMint, now, expectedVerdict) => expect(isOfEpoch(epochOf(atMint), now)).toBe(expectedVerdict));

  it('before any end has no claim of an end', () => expect(epochOf(none)).toBeUndefined());

  it.each(['', '.', 'a', 'a.', '.g', 'g.a', 'a.g.x'])('with the claim %j is ended by an end with another name', (epo) =>
    expect(isOfEpoch(epo, ['z', 'y'])).toBe(false),
  );
});

describe('the library does not start', () => {
  const error = (type: string): string =>
    `Two kinds of tokens have the type ${type}. Give each purpose a type of its own.`;

  it.each<[string, string[], string[]]>([
    ['with two purposes of one type', ['at+jwt', 'a+b', 'c+d', 'a+b'], [error('a+b')]],
    ['with the type of access tokens for a purpose', ['at+jwt', 'a+b', 'at+jwt'], [error('at+jwt')]],
  ])('%s', (_, types, errors) => expect(purposeErrors(types)).toEqual(errors));

  it('but starts with different types', () => expect(purposeErrors(['at+jwt', 'a+b', 'c+d'])).toEqual([]));
});
