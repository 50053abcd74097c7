import * as fc from 'fast-check';
import {
  ACCESS_TOKEN_TYPE,
  type AccessTokenParts,
  type Expectations,
  accessClaims,
  isAccessToken,
} from './access-token.policy';

const NOW = 1_700_000_000;
const LEEWAY = 5;
const LONGEST = 900 + LEEWAY + 60;
const expected: Expectations = {
  issuer: 'https://issuer',
  audience: ['https://a', 'https://b'],
  leeway: LEEWAY,
  longestLife: LONGEST,
  ids: 'uuid',
  confirmations: ['jkt'],
};
const UUID = '5c8d2c2b-6c2f-4b9e-8d6f-0d3f2f6c1a11';
const header = { typ: ACCESS_TOKEN_TYPE, alg: 'HS256' };
const claims = {
  iss: 'https://issuer',
  aud: 'https://a',
  sub: '7',
  fid: UUID,
  jti: UUID,
  iat: NOW,
  nbf: NOW,
  exp: NOW + 900,
};

describe('an access token', () => {
  const accepts = (changed: object, head: object = {}, ids: Expectations['ids'] = 'uuid'): boolean =>
    isAccessToken({ ...header, ...head }, { ...claims, ...changed }, { ...expected, ids }, NOW);

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
    ['with null as nbf is refused', { nbf: null }, false],
    ['with null as iat is refused', { iat: null }, false],
    ['with a valid nbf and a string as iat is refused', { iat: 'now' }, false],
    ['with a fraction as exp is refused', { exp: NOW + 0.5 }, false],
    ['with a fraction as nbf is refused', { nbf: NOW - 0.5 }, false],
    ['with a fraction as iat is refused', { iat: NOW - 0.5 }, false],
    ['with a negative nbf is refused', { nbf: -1, iat: NOW }, false],
    ['with milliseconds as iat is refused', { iat: NOW * 1000 }, false],
    ['with an iat beyond the year 9999 is refused', { iat: 253_402_300_800 }, false],
    ['with an iat at the end of the year 9999 is accepted', { iat: 253_402_300_799 }, true],
    ['with an infinite iat is refused', { iat: Infinity }, false],
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

describe('the ids of an access token', () => {
  const UNUSUAL = [
    '',
    'a',
    '7',
    UUID.toUpperCase(),
    `${UUID} `,
    `{${UUID}}`,
    UUID.replaceAll('-', ''),
    `urn:uuid:${UUID}`,
  ];
  const NO_TEXT = [null, 7, true, [UUID], { id: UUID }];
  const accepts = (changed: object, ids: Expectations['ids']): boolean =>
    isAccessToken(header, { ...claims, ...changed }, { ...expected, ids }, NOW);

  it.each(['jti', 'fid'])('may be absent: %s', (name) => {
    for (const ids of ['uuid', 'any'] as const) expect(accepts({ [name]: undefined }, ids)).toBe(true);
  });

  it.each(['jti', 'fid'])('are canonical UUIDs, or with tokenIds `any` any text: %s', (name) => {
    for (const id of UNUSUAL) {
      expect([id, accepts({ [name]: id }, 'uuid')]).toEqual([id, false]);
      expect([id, accepts({ [name]: id }, 'any')]).toEqual([id, true]);
    }
    for (const id of NO_TEXT)
      for (const ids of ['uuid', 'any'] as const) expect(accepts({ [name]: id }, ids)).toBe(false);
  });
});

describe('a token that is bound to a key', () => {
  const accepts = (cnf: unknown, confirmations: readonly string[]): boolean =>
    isAccessToken(header, { ...claims, cnf }, { ...expected, confirmations }, NOW);
  const own = { jkt: 'a-thumbprint' };

  it.each([
    ['is accepted where a feature verifies the kind of its key', own, ['jkt'], true],
    ['is refused where no feature does', own, [], false],
    ['is refused where a feature verifies another kind', own, ['x5t#S256'], false],
    ['is refused with a second kind', { ...own, kid: '1' }, ['jkt'], false],
    ['is refused with two kinds, even if both are verified', { ...own, kid: '1' }, ['jkt', 'kid'], false],
    ['is refused without a kind', {}, ['jkt'], false],
    ['is refused with an inherited name as the kind', { constructor: 'x' }, [], false],
    ['is refused with an empty value', { jkt: '' }, ['jkt'], false],
    ['is refused with a value that is no text', { jkt: { jkt: 'x' } }, ['jkt'], false],
    ['is refused with null', null, ['jkt'], false],
    ['is refused with a text', 'jkt', ['jkt'], false],
    ['is refused with a list', ['jkt'], ['jkt'], false],
    ['is none without the claim', undefined, [], true],
  ] as const)('%s', (_, cnf, confirmations, accepted) => expect(accepts(cnf, confirmations)).toBe(accepted));
});

/** The rule on times and ids once more, claim by claim, from their JSON. */
function hasValidClaims(text: string, ids: Expectations['ids']): boolean {
  const own = JSON.parse(text) as Record<string, unknown>;
  for (const name of ['exp', 'nbf', 'iat']) {
    if (!(name in own)) continue;
    if (typeof own[name] !== 'number' || !/^\d{1,12}$/.test(String(own[name]))) return false;
    if (new Date(own[name] * 1000).getUTCFullYear() > 9999) return false;
  }
  for (const name of ['jti', 'fid']) {
    if (!(name in own)) continue;
    if (typeof own[name] !== 'string') return false;
    const parts = own[name].split('-').map((part) => (/^[0-9a-f]+$/.test(part) ? part.length : 0));
    if (ids === 'uuid' && parts.join() !== '8,4,4,4,12') return false;
  }
  const { exp, nbf, iat } = own as Record<string, number | undefined>;
  if (exp === undefined) return false;
  const began = nbf ?? iat;
  if (began !== undefined && began > NOW + LEEWAY) return false;
  if (NOW - LEEWAY >= exp) return false;
  return [NOW, nbf ?? NOW, iat ?? NOW].every((start) => exp - start <= LONGEST);
}

describe('any claims', () => {
  const time = fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: NOW - 2 * LONGEST, max: NOW + 2 * LONGEST }) },
    fc.constantFrom(
      0,
      -1,
      NOW + 0.5,
      NOW * 1000,
      253_402_300_799,
      253_402_300_800,
      2 ** 53,
      1e308,
      null,
      true,
      [NOW],
      {},
    ),
    fc.constantFrom(String(NOW), '', `${NOW}.0`),
    fc.double(),
  );
  const id = fc.oneof(
    { weight: 4, arbitrary: fc.uuid() },
    fc.uuid().map((one) => one.toUpperCase()),
    fc.uuid().map((one) => one.replace('-', '')),
    fc.constantFrom('', 'a', null, 7, [UUID], {}, `${UUID}\n`),
    fc.string(),
  );
  const any = fc.record({ exp: time, nbf: time, iat: time, jti: id, fid: id }, { requiredKeys: [] });

  it('are accepted as a second statement of the rule says', () => {
    const seen = { true: 0, false: 0 };
    fc.assert(
      fc.property(any, fc.constantFrom(...(['uuid', 'any'] as const)), (some, ids) => {
        const text = JSON.stringify(some);
        const own = { iss: 'https://issuer', aud: 'https://a', sub: '7', ...JSON.parse(text) };
        const accepted = isAccessToken(header, own, { ...expected, ids }, NOW);
        seen[`${accepted}`]++;
        expect(accepted).toBe(hasValidClaims(text, ids));
      }),
      { numRuns: 20_000 },
    );
    // The property is only of use if both verdicts occur.
    expect(Math.min(seen.true, seen.false)).toBeGreaterThan(20);
  });
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
