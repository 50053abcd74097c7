import { type KeyObject, createHmac, generateKeyPairSync, hkdfSync } from 'node:crypto';
import { ENCRYPTION_KEY, SECRET } from '../../support/hosts/host.module';
import type { Visitor } from './attacked-host';
import {
  CHALLENGE,
  CONFIRMATION,
  type Json,
  type Signer,
  audienceOf,
  b64,
  claimsOf,
  compact,
  ecdsa,
  headerOf,
  hmac,
  noSignature,
  now,
  ownSigner,
  confirmationTokenFor,
  purposeToken,
  rsa,
  text,
} from './jws';

/** An invalid token and its description. */
export type Hostile = readonly [name: string, token: string];

const foreignKey = generateKeyPairSync('rsa', { modulusLength: 2048 });
const foreignEcKey = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** Malformed tokens. The signing key does not matter. */
const malformed = (good: string): Hostile[] => {
  const [header = '', claims = '', signature = ''] = good.split('.');
  const flipped = (one: string): string => (one.startsWith('A') ? 'B' : 'A') + one.slice(1);
  return [
    ['two dots', '..'],
    ['one part', header],
    ['two parts', `${header}.${claims}`],
    ['no signature', `${header}.${claims}.`],
    ['four parts', `${good}.${signature}`],
    ['five parts, as of an encrypted token', `${good}.${signature}.${signature}`],
    ['a truncated signature', good.slice(0, -6)],
    ['a signature with extra bytes', `${good}AAAA`],
    ['another signature', `${header}.${claims}.${flipped(signature)}`],
    ['other claims', `${header}.${flipped(claims)}.${signature}`],
    ['the JSON form', JSON.stringify({ payload: claims, signatures: [{ protected: header, signature }] })],
    ['8 KB of one letter', 'a'.repeat(8000)],
    ['8 KB of dots', '.'.repeat(8000)],
    ['names of inherited members', '__proto__.constructor.prototype'],
    ['a quote', `${good}'`],
    ['a percent escape', `%00${good}`],
    ['undefined', 'undefined'],
  ];
};

/** Tokens of the visitor with an algorithm or key of the attacker's choice. */
const withForgedHeader = (good: string): Hostile[] => {
  const [header, claims] = [headerOf(good), claimsOf(good)];
  const { kid: _, ...named } = header;
  const foreignSigner = rsa(foreignKey.privateKey);
  const jwk = { ...foreignKey.publicKey.export({ format: 'jwk' }), kid: 'evil', use: 'sig', alg: 'RS256' };
  const as = (more: Json, signer: Signer): string => compact({ ...named, ...more }, claims, signer);
  return [
    ...['none', 'None', 'NONE', 'nOnE', '', ' none', 'none\0', null, 0, [], ['none'], ['HS256'], {}].map(
      (alg): Hostile => [`alg ${JSON.stringify(alg)}`, as({ alg }, noSignature)],
    ),
    ['no alg', compact({ typ: named.typ }, claims, noSignature)],
    ['alg none over a good signature', `${b64(text({ ...named, alg: 'none' }))}.${good.split('.').slice(1).join('.')}`],
    ['alg twice', compact(`{"alg":"none","typ":"at+jwt","alg":"${String(header.alg)}"}`, claims, noSignature)],
    [
      'alg twice, none last',
      compact(`{"alg":"${String(header.alg)}","typ":"at+jwt","alg":"none"}`, claims, noSignature),
    ],
    ...['HS256', 'HS384', 'HS512'].flatMap((alg): Hostile[] => [
      [`${alg} with an empty secret`, as({ alg }, hmac('', alg.replace('HS', 'sha')))],
      [`${alg} with a guessed secret`, as({ alg }, hmac('secret', alg.replace('HS', 'sha')))],
    ]),
    ['a foreign key in jwk', as({ alg: 'RS256', jwk }, foreignSigner)],
    ['a foreign key behind jku', as({ alg: 'RS256', jku: 'https://evil.example/jwks', kid: 'evil' }, foreignSigner)],
    ['a foreign key behind x5u', as({ alg: 'RS256', x5u: 'https://evil.example/x' }, foreignSigner)],
    ['a foreign key in x5c', as({ alg: 'RS256', x5c: [b64('cert')] }, foreignSigner)],
    ...[
      '../../../../dev/null',
      '/dev/null',
      '__proto__',
      'constructor',
      'toString',
      "x' UNION SELECT 'k",
      '',
      'a\0',
    ].flatMap((kid): Hostile[] => [
      [`kid ${JSON.stringify(kid)} with an empty secret`, as({ alg: 'HS256', kid }, hmac(''))],
      [`kid ${JSON.stringify(kid)} with a foreign key`, as({ alg: 'RS256', kid }, foreignSigner)],
      [`kid ${JSON.stringify(kid)} with a foreign EC key`, as({ alg: 'ES256', kid }, ecdsa(foreignEcKey.privateKey))],
    ]),
    ...[['default'], { toString: 'default' }, 0, true, null].map((kid): Hostile => [
      `kid ${JSON.stringify(kid)}`,
      as({ alg: header.alg, kid }, foreignSigner),
    ]),
    ['a signature of zeros', as({ alg: 'ES256', kid: 'default' }, () => Buffer.alloc(64))],
    ['a header that is not JSON', compact('{', claims, noSignature)],
    ['a header that is null', compact('null', claims, noSignature)],
    ['a header that is an array', compact('[]', claims, noSignature)],
    ['a header 2,000 deep', compact(`${'['.repeat(2000)}${']'.repeat(2000)}`, claims, noSignature)],
  ];
};

/** Tokens with a valid signature and header or claims that an access token must not have. */
function withInvalidClaims(visitor: Visitor, other: Visitor): Hostile[] {
  const [header, claims] = [headerOf(visitor.access), claimsOf(visitor.access)];
  const as = (change: Json, more: Json = {}): string =>
    compact({ ...header, ...more }, { ...claims, ...change }, ownSigner);
  const wrong: [string, unknown[]][] = [
    ['exp', [now() - 60, 0, -1, '4e9', String(now() + 900), null, undefined, [now() + 900], {}, true]],
    // Longer than the maximum lifetime of a token in this realm.
    ['exp', [now() + 1800, now() + 86_400, 4e9, Number.MAX_SAFE_INTEGER, 1e308]],
    ['nbf', [now() + 900, '0', null, 0.5, -1, [], {}, true]],
    ['iat', [null, '0', 0.5, -1, Date.now(), [], {}, true]],
    ['exp', [now() + 60.5]],
    ...['jti', 'fid'].map((name): [string, unknown[]] => [
      name,
      [null, 7, '', 'a', [claims[name]], {}, String(claims[name]).toUpperCase()],
    ]),
    ['iss', ['https://evil.example', '', null, undefined, ['https://api.example.com'], {}]],
    [
      'aud',
      [audienceOf(other), '', null, undefined, [], {}, [[audienceOf(visitor)]], [{}], 7, `${audienceOf(visitor)}/`],
    ],
    [
      'sub',
      [
        '',
        null,
        undefined,
        1,
        true,
        [visitor.id],
        { id: visitor.id },
        other.id,
        '__proto__',
        "' OR 1=1 --",
        'a\0b',
        '\ud800',
      ],
    ],
    ['sub', ['x'.repeat(4000), '-1', '1e3', '99999999999999999999', 'NaN', `${visitor.id} `, 'İ']],
  ];
  return [
    ...wrong.flatMap(([claim, values]) =>
      values.map((value): Hostile => [`${claim} ${JSON.stringify(value)?.slice(0, 40)}`, as({ [claim]: value })]),
    ),
    ['an infinite exp', compact(header, text(claims).replace(/"exp":\d+/, '"exp":1e999'), ownSigner)],
    ...['JWT', 'AT+JWT', 'at+jwt ', 'application/at+jwt', '', null, undefined, ['at+jwt'], CHALLENGE, CONFIRMATION].map(
      (typ): Hostile => [`typ ${JSON.stringify(typ)}`, as({}, { typ })],
    ),
    ['a critical header', as({}, { crit: ['exp'] })],
    ['an unencoded payload', as({}, { b64: false, crit: ['b64'] })],
    ['HS512 with our secret', compact({ ...header, alg: 'HS512' }, claims, hmac(SECRET, 'sha512'))],
    ['claims that are an array', compact(header, [claims], ownSigner)],
    ['claims that are null', compact(header, 'null', ownSigner)],
    ['claims that are a string', compact(header, '"x"', ownSigner)],
    ['claims that are not JSON', compact(header, 'x', ownSigner)],
    ['a login challenge', purposeToken(CHALLENGE, visitor)],
    ['a confirmation', confirmationTokenFor(visitor)],
    ['the refresh token', visitor.refresh],
    ['a token of the other guard', other.access],
  ];
}

/** Tokens that a guard with a secret must not accept as the visitor. */
export const hostileBearers = (visitor: Visitor, other: Visitor): Hostile[] => [
  ...malformed(visitor.access),
  ...withForgedHeader(visitor.access),
  ...withInvalidClaims(visitor, other),
];

/** Tokens that a guard with a key pair must not accept. `published` is its public key. */
export function hostileToKeyPairs(visitor: Visitor, other: Visitor, published: KeyObject): Hostile[] {
  const [header, claims] = [headerOf(visitor.access), claimsOf(visitor.access)];
  const pem = String(published.export({ type: 'spki', format: 'pem' }));
  const der = published.export({ type: 'spki', format: 'der' });
  const jwk = JSON.stringify(published.export({ format: 'jwk' }));
  const confused: [string, string | Buffer][] = [
    ['its PEM', pem],
    ['its PEM without the last line break', pem.trim()],
    ['its DER', der],
    ['its JWK', jwk],
  ];
  return [
    ...malformed(visitor.access),
    ...withForgedHeader(visitor.access),
    ...confused.flatMap(([name, secret]) =>
      ['HS256', 'HS384', 'HS512'].map((alg): Hostile => {
        const signer = hmac(secret, alg.replace('HS', 'sha'));
        return [`${alg} with ${name} as the secret`, compact({ ...header, alg }, claims, signer)];
      }),
    ),
    ['the secret of the guard before the key pair', compact({ ...header, alg: 'HS256' }, claims, ownSigner)],
    ['a token of the other guard', other.access],
    ['the refresh token', visitor.refresh],
  ];
}

/** The refresh token of a generation, computed from the root and the salt of the session. */
export function refreshToken(root: string, salt: Buffer, { guard, access }: Visitor, generation = 0): string {
  const family = Buffer.from(String(claimsOf(access).fid).replaceAll('-', ''), 'hex');
  const number = Buffer.alloc(4);
  number.writeUInt32BE(generation);
  const key = Buffer.from(hkdfSync('sha256', root, '', `svc.refresh:${guard}`, 32));
  const mac = createHmac('sha256', key).update(salt).update(family).update(number).digest();
  return Buffer.concat([Buffer.of(1), family, number, mac]).toString('base64url');
}

/** Refresh tokens that must not be accepted as the visitor. `salt` is the stored salt of the session. */
export function hostileRefreshTokens(visitor: Visitor, neighbour: Visitor, salt: Buffer): Hostile[] {
  const { refresh } = visitor;
  const changed = (change: (bytes: Buffer) => Buffer | void): string => {
    const bytes = Buffer.from(refresh, 'base64url');
    return (change(bytes) ?? bytes).toString('base64url');
  };
  const flat = (root: string): string =>
    changed((bytes) => Buffer.concat([bytes.subarray(0, 21), hmac(root)(bytes.toString('latin1', 1, 21))]));
  return [
    ['the next generation', changed((bytes) => void bytes.writeUInt32BE(1, 17))],
    ['the last generation', changed((bytes) => void bytes.writeUInt32BE(2 ** 32 - 1, 17))],
    [
      'a session of another user',
      changed((bytes) => void Buffer.from(neighbour.refresh, 'base64url').copy(bytes, 1, 1, 17)),
    ],
    ['another version', changed((bytes) => void (bytes[0] = 2))],
    ['a MAC of zeros', changed((bytes) => void bytes.fill(0, 21))],
    ['a truncated MAC', changed((bytes) => bytes.subarray(0, 37))],
    ['no MAC', changed((bytes) => bytes.subarray(0, 21))],
    ['a MAC with an extra byte', changed((bytes) => Buffer.concat([bytes, Buffer.alloc(1)]))],
    ...['', ' ', 'null', 'secret', 'svc.refresh:api', salt.toString('hex'), String(claimsOf(visitor.access).fid)].map(
      (root): Hostile => [`the salt and a guessed root: ${root}`, refreshToken(root, salt, visitor)],
    ),
    ...[ENCRYPTION_KEY, SECRET].flatMap((root): Hostile[] => [
      ...[Buffer.alloc(0), Buffer.alloc(32), Buffer.alloc(32, 0xff), Buffer.from(root)].map((guess, i): Hostile => [
        `the root and a guessed salt: ${i}`,
        refreshToken(root, guess, visitor),
      ]),
      [`the root alone`, flat(root)],
    ]),
    ['the root of the other guard', refreshToken(ENCRYPTION_KEY, salt, { ...visitor, guard: 'admin' })],
    ['in capitals', refresh.toUpperCase()],
    ['as other base64', `${refresh}=`],
    ['with an extra character', `${refresh}0`],
    ['with a NUL', `${refresh}\0`],
    ['without the first character', refresh.slice(1)],
    ['a string of equal length', 'f'.repeat(71)],
  ];
}

/** Tokens that must not be accepted as a confirmation or challenge of the visitor. */
export function hostilePurposeTokens(typ: string, visitor: Visitor, other: Visitor, neighbour: Visitor): Hostile[] {
  const good = purposeToken(typ, visitor);
  const as = (change: Json, header: Json = {}): string => purposeToken(typ, visitor, change, ownSigner, header);
  const wrong: [string, unknown[]][] = [
    ['exp', [now() - 60, now() + 9000, 4e9, '4e9', 1.5 + now() + 60, null, undefined, []]],
    ['nbf', [now() + 900, 'x', {}, null, 0.5, -1]],
    ['iat', ['x', {}, null, 0.5, -1, Date.now()]],
    ['aud', [audienceOf(visitor), [], [audienceOf(visitor), 'x'], [audienceOf(other)], null, {}]],
    ['iss', ['x', null, ['https://api.example.com']]],
    ['sub', ['', null, 1, [visitor.id], {}, other.id, neighbour.id, 'a\0b', '__proto__', 'x'.repeat(4000), '\ud800']],
    ['jti', ['', null, undefined, 1, [], {}, 'j', String(claimsOf(good).jti).toUpperCase()]],
    ['gid', [other.guard, '', null, 1, [visitor.guard]]],
    ['fid', [null, 1, '', [], {}, 'f']],
    ['sto', ['f'.repeat(32), '', null, 1, [], {}]],
    ['epo', ['', null, 1, [], {}]],
  ];
  return [
    ...malformed(good),
    ...withForgedHeader(good),
    ...wrong.flatMap(([claim, values]) =>
      values.map((value): Hostile => [`${claim} ${JSON.stringify(value)?.slice(0, 40)}`, as({ [claim]: value })]),
    ),
    ['an access token', visitor.access],
    ['the refresh token', visitor.refresh],
    ['the other purpose', purposeToken(typ === CHALLENGE ? CONFIRMATION : CHALLENGE, visitor)],
    ['an access token by its header', as({}, { typ: 'at+jwt' })],
    ['no purpose', as({}, { typ: undefined })],
    ['one of the other guard', purposeToken(typ, other)],
    ['a critical header', as({}, { crit: ['exp'] })],
    ['a guessed secret', purposeToken(typ, visitor, {}, hmac('secret'))],
  ];
}
