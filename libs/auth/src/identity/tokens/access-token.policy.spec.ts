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

  it('is accepted as it was minted', () => expect(accepts({})).toBe(true));

  const times: [string, object, boolean][] = [
    ['that expires now is accepted', { exp: NOW }, true],
    ['that expired less than the leeway ago is accepted', { exp: NOW - LEEWAY + 1 }, true],
    ['that expired exactly the leeway ago is refused', { exp: NOW - LEEWAY }, false],
    ['without exp is refused', { exp: undefined }, false],
    ['with null as exp is refused', { exp: null }, false],
    ['with a string as exp is refused', { exp: String(NOW + 900) }, false],
    ['with a list as exp is refused', { exp: [NOW + 900] }, false],
    ['with NaN as exp is refused', { exp: NaN }, false],
    ['with an infinite exp is refused', { exp: Infinity }, false],
    ['with nbf in the future by exactly the leeway is accepted', { nbf: NOW + LEEWAY }, true],
    ['with nbf in the future by more than the leeway is refused', { nbf: NOW + LEEWAY + 1 }, false],
    ['with a string as nbf is refused', { nbf: String(NOW) }, false],
    ['with true as nbf is refused', { nbf: true }, false],
    ['without nbf and with the current time as iat is accepted', { nbf: undefined }, true],
    ['without nbf and with iat in the future is refused', { nbf: undefined, iat: NOW + LEEWAY + 1 }, false],
    ['with a valid nbf and iat in the future is accepted', { iat: NOW + 999 }, true],
    ['without nbf and iat is accepted', { nbf: undefined, iat: undefined }, true],
    ['without nbf and with a string as iat is refused', { nbf: undefined, iat: 'now' }, false],
  ];
  it.each(times)('%s', (_, changed, passes) => expect(accepts(changed)).toBe(passes));

  const lives: [string, object, boolean][] = [
    ['with the longest life is accepted', { exp: NOW + LONGEST }, true],
    ['with a longer life is refused', { exp: NOW + LONGEST + 1 }, false],
    [
      'with a longer life, one second before its expiry, is refused',
      { iat: NOW - LONGEST, nbf: NOW - LONGEST, exp: NOW + 1 },
      false,
    ],
    [
      'with a longer life, within the leeway after its expiry, is refused',
      { iat: NOW - 3600, nbf: NOW - 3600, exp: NOW - 1 },
      false,
    ],
    [
      'with the longest life, one second before its expiry, is accepted',
      { iat: NOW - LONGEST + 1, nbf: NOW - LONGEST + 1, exp: NOW + 1 },
      true,
    ],
    [
      'with a life that is too long from iat, but not from nbf, is refused',
      { iat: NOW - 900, nbf: NOW, exp: NOW + 900 },
      false,
    ],
    [
      'with a life that is too long from nbf, but not from iat, is refused',
      { iat: NOW + 900, nbf: NOW - 900, exp: NOW + 900 },
      false,
    ],
    [
      'with iat in the future and a life that is too long from now is refused',
      { iat: NOW + 900, exp: NOW + LONGEST + 1 },
      false,
    ],
    [
      'with nbf in the future and a life that is too long from now is refused',
      { nbf: NOW + LEEWAY, exp: NOW + LEEWAY + LONGEST },
      false,
    ],
    [
      'without iat and with a life that is too long from nbf is refused',
      { iat: undefined, nbf: NOW - 900, exp: NOW + 900 },
      false,
    ],
    [
      'without nbf and with a life that is too long from iat is refused',
      { iat: NOW - 900, nbf: undefined, exp: NOW + 900 },
      false,
    ],
    [
      'without iat and nbf and with a life that is too long from now is refused',
      { iat: undefined, nbf: undefined, exp: NOW + 4e9 },
      false,
    ],
    ['without nbf and with NaN as iat is refused', { iat: NaN, nbf: undefined, exp: NOW + 900 }, false],
  ];
  it.each(lives)('%s', (_, changed, passes) => expect(accepts(changed)).toBe(passes));

  const parties: [string, object, boolean][] = [
    ['of another issuer is refused', { iss: 'https://other' }, false],
    ['of the issuer with a trailing slash is refused', { iss: 'https://issuer/' }, false],
    ['with a list as issuer is refused', { iss: ['https://issuer'] }, false],
    ['without an issuer is refused', { iss: undefined }, false],
    ['for the other audience is accepted', { aud: 'https://b' }, true],
    ['for a list with one expected audience is accepted', { aud: ['https://x', 'https://b'] }, true],
    ['with an empty list of audiences is refused', { aud: [] }, false],
    ['for other audiences is refused', { aud: ['https://x'] }, false],
    ['for the beginning of an audience is refused', { aud: 'https://' }, false],
    ['without an audience is refused', { aud: undefined }, false],
    ['with an object as audience is refused', { aud: { 0: 'https://a' } }, false],
    ['with a nested list of audiences is refused', { aud: [['https://a']] }, false],
    ['without a subject is refused', { sub: undefined }, false],
    ['with an empty subject is refused', { sub: '' }, false],
    ['with a number as subject is refused', { sub: 7 }, false],
    ['with a list as subject is refused', { sub: ['7'] }, false],
    ['with the subject "0" is accepted', { sub: '0' }, true],
  ];
  it.each(parties)('%s', (_, changed, passes) => expect(accepts(changed)).toBe(passes));

  const headers: [string, object][] = [
    ['with the type JWT', { typ: 'JWT' }],
    ['with its type in upper case', { typ: 'AT+JWT' }],
    ['with its type after the media type prefix', { typ: 'application/at+jwt' }],
    ['with a list as type', { typ: [ACCESS_TOKEN_TYPE] }],
    ['without a type', { typ: undefined }],
    ['with a critical extension', { crit: ['b64'] }],
    ['with an empty critical list', { crit: [] }],
  ];
  it.each(headers)('%s is refused', (_, head) => expect(accepts({}, head)).toBe(false));
});

describe('the claims of a new access token', () => {
  const standard = { iss: 'https://issuer', sub: '7', exp: NOW + 900, amr: ['pwd'], auth_time: NOW };
  const claimsOf = (parts: Partial<AccessTokenParts>) =>
    accessClaims({ custom: {}, standard, scope: undefined, pinned: false, ...parts });

  it('contain the standard claims instead of claims of the host with the same names', () => {
    expect(claimsOf({ custom: { tenant: 'acme', sub: '8', exp: 1 } })).toEqual({ ...standard, tenant: 'acme' });
  });

  it('contain no reserved claim of the host, also when no standard claim replaces it', () => {
    const reserved = ['iss', 'aud', 'sub', 'fid', 'jti', 'iat', 'nbf', 'exp', 'amr', 'auth_time', 'pin'];
    const custom = Object.fromEntries(reserved.map((name) => [name, 'forged']));
    expect(claimsOf({ custom, standard: {} })).toEqual({});
  });

  it.each<[string, string | undefined, object]>([
    ['contain the scope of the host when abilities are not used', undefined, { scope: 'forged' }],
    ['contain the granted scope instead of the scope of the host', 'orders.read', { scope: 'orders.read' }],
    ['contain no scope when the grant is empty', '', {}],
  ])('%s', (_, scope, result) => {
    expect(claimsOf({ custom: { scope: 'forged' }, standard: {}, scope })).toEqual(result);
  });

  it('contain the pin claim for pinned sessions only', () => {
    expect(claimsOf({ standard: {}, scope: '', pinned: true })).toEqual({ pin: true });
    expect(claimsOf({ standard: {}, custom: { pin: true }, scope: '', pinned: false })).toEqual({});
  });

  it('do not change the claims that the host returned, or Object.prototype', () => {
    const custom = Object.freeze(JSON.parse('{"sub":"8","__proto__":{"admin":true},"tenant":"acme"}'));
    const result = claimsOf({ custom });
    expect(custom.sub).toBe('8');
    expect(result.admin).toBeUndefined();
    expect(({} as Record<string, unknown>).admin).toBeUndefined();
  });
});
