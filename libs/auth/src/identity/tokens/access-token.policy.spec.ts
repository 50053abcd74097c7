import { ACCESS_TOKEN_TYPE, type AccessTokenParts, accessClaims, isAccessToken } from './access-token.policy';

const NOW = 1_700_000_000;
const LEEWAY = 5;
const LONGEST = 900 + LEEWAY + 60;
const expected = {
  issuer: 'https://issuer',
  audience: ['https://a', 'https://b'],
  leeway: LEEWAY,
  longestLife: LONGEST,
};
const header = { typ: ACCESS_TOKEN_TYPE, alg: 'HS256' };
const claims = { iss: 'https://issuer', aud: 'https://a', sub: '7', iat: NOW, nbf: NOW, exp: NOW + 900 };

describe('an access token', () => {
  const accepts = (changed: object, head: object = {}): boolean =>
    isAccessToken({ ...header, ...head }, { ...claims, ...changed }, expected, NOW);

  it('passes as it is made', () => expect(accepts({})).toBe(true));

  const times: [string, object, boolean][] = [
    ['expiring now', { exp: NOW }, true],
    ['expired by less than the leeway', { exp: NOW - LEEWAY + 1 }, true],
    ['expired by exactly the leeway', { exp: NOW - LEEWAY }, false],
    ['without exp', { exp: undefined }, false],
    ['with exp null', { exp: null }, false],
    ['with exp as text', { exp: String(NOW + 900) }, false],
    ['with exp as a list', { exp: [NOW + 900] }, false],
    ['with exp NaN', { exp: NaN }, false],
    ['that never expires', { exp: Infinity }, false],
    ['starting ahead by exactly the leeway', { nbf: NOW + LEEWAY }, true],
    ['starting ahead by more than the leeway', { nbf: NOW + LEEWAY + 1 }, false],
    ['with nbf as text', { nbf: String(NOW) }, false],
    ['with nbf true', { nbf: true }, false],
    ['without nbf, issued in the past', { nbf: undefined }, true],
    ['without nbf, issued ahead', { nbf: undefined, iat: NOW + LEEWAY + 1 }, false],
    ['with a good nbf, whatever iat says', { iat: NOW + 999 }, true],
    ['without nbf and iat', { nbf: undefined, iat: undefined }, true],
    ['without nbf, with iat as text', { nbf: undefined, iat: 'now' }, false],
  ];
  it.each(times)('%s', (_, changed, passes) => expect(accepts(changed)).toBe(passes));

  const lives: [string, object, boolean][] = [
    ['of the longest life', { exp: NOW + LONGEST }, true],
    ['of a longer life', { exp: NOW + LONGEST + 1 }, false],
    ['of a longer life, in its last minute', { iat: NOW - LONGEST, nbf: NOW - LONGEST, exp: NOW + 1 }, false],
    ['of a longer life, within the leeway after it', { iat: NOW - 3600, nbf: NOW - 3600, exp: NOW - 1 }, false],
    ['of the longest life, in its last second', { iat: NOW - LONGEST + 1, nbf: NOW - LONGEST + 1, exp: NOW + 1 }, true],
    ['of a longer life that begins later than it was issued', { iat: NOW - 900, nbf: NOW, exp: NOW + 900 }, false],
    ['of a longer life that says it was issued later', { iat: NOW + 900, nbf: NOW - 900, exp: NOW + 900 }, false],
    ['that says it was issued ahead, of a longer life from now', { iat: NOW + 900, exp: NOW + LONGEST + 1 }, false],
    ['that begins ahead, of a longer life from now', { nbf: NOW + LEEWAY, exp: NOW + LEEWAY + LONGEST }, false],
    ['without iat, of a longer life from nbf', { iat: undefined, nbf: NOW - 900, exp: NOW + 900 }, false],
    ['without nbf, of a longer life from iat', { iat: NOW - 900, nbf: undefined, exp: NOW + 900 }, false],
    ['without iat and nbf, of a longer life from now', { iat: undefined, nbf: undefined, exp: NOW + 4e9 }, false],
    ['without nbf, with iat NaN', { iat: NaN, nbf: undefined, exp: NOW + 900 }, false],
  ];
  it.each(lives)('%s', (_, changed, passes) => expect(accepts(changed)).toBe(passes));

  const parties: [string, object, boolean][] = [
    ['of another issuer', { iss: 'https://other' }, false],
    ['of the issuer with a slash', { iss: 'https://issuer/' }, false],
    ['with the issuer as a list', { iss: ['https://issuer'] }, false],
    ['without an issuer', { iss: undefined }, false],
    ['for the other audience', { aud: 'https://b' }, true],
    ['for a list with one of ours', { aud: ['https://x', 'https://b'] }, true],
    ['for no audience', { aud: [] }, false],
    ['for other audiences', { aud: ['https://x'] }, false],
    ['for part of a name', { aud: 'https://' }, false],
    ['without an audience', { aud: undefined }, false],
    ['for an object', { aud: { 0: 'https://a' } }, false],
    ['for a list in a list', { aud: [['https://a']] }, false],
    ['without a subject', { sub: undefined }, false],
    ['with an empty subject', { sub: '' }, false],
    ['with a number as subject', { sub: 7 }, false],
    ['with a list as subject', { sub: ['7'] }, false],
    ['with the subject "0"', { sub: '0' }, true],
  ];
  it.each(parties)('%s', (_, changed, passes) => expect(accepts(changed)).toBe(passes));

  const headers: [string, object][] = [
    ['typed JWT', { typ: 'JWT' }],
    ['typed in upper case', { typ: 'AT+JWT' }],
    ['typed with the media type prefix', { typ: 'application/at+jwt' }],
    ['typed as a list', { typ: [ACCESS_TOKEN_TYPE] }],
    ['without a type', { typ: undefined }],
    ['with a critical extension', { crit: ['b64'] }],
    ['with an empty critical list', { crit: [] }],
  ];
  it.each(headers)('%s is refused', (_, head) => expect(accepts({}, head)).toBe(false));
});

describe('the claims of a new access token', () => {
  const standard = { iss: 'https://issuer', sub: '7', exp: NOW + 900, amr: ['pwd'], auth_time: NOW };
  const made = (parts: Partial<AccessTokenParts>) =>
    accessClaims({ custom: {}, standard, scope: undefined, pinned: false, ...parts });

  it('put the standard claims over those of the host', () => {
    expect(made({ custom: { tenant: 'acme', sub: '8', exp: 1 } })).toEqual({ ...standard, tenant: 'acme' });
  });

  it('leave out every reserved claim of the host that the standard ones do not set', () => {
    const reserved = ['iss', 'aud', 'sub', 'fid', 'jti', 'iat', 'nbf', 'exp', 'amr', 'auth_time', 'pin'];
    const custom = Object.fromEntries(reserved.map((name) => [name, 'forged']));
    expect(made({ custom, standard: {} })).toEqual({});
  });

  it.each<[string, string | undefined, object]>([
    ['keep the host`s scope where abilities are unused', undefined, { scope: 'forged' }],
    ['put the grant over the host`s scope', 'orders.read', { scope: 'orders.read' }],
    ['erase the host`s scope where the grant is empty', '', {}],
  ])('%s', (_, scope, result) => {
    expect(made({ custom: { scope: 'forged' }, standard: {}, scope })).toEqual(result);
  });

  it('carry a pin for pinned sessions only, and never as false', () => {
    expect(made({ standard: {}, scope: '', pinned: true })).toEqual({ pin: true });
    expect(made({ standard: {}, custom: { pin: true }, scope: '', pinned: false })).toEqual({});
  });

  it('change nothing of what the host returned, and nothing of all objects', () => {
    const custom = Object.freeze(JSON.parse('{"sub":"8","__proto__":{"admin":true},"tenant":"acme"}'));
    const result = made({ custom });
    expect(custom.sub).toBe('8');
    expect(result.admin).toBeUndefined();
    expect(({} as Record<string, unknown>).admin).toBeUndefined();
  });
});
