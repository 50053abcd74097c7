import { otpauthUri } from './totp';

const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

describe('the URI for authenticator apps', () => {
  it.each([
    ['Acme', 'ada@example.com', 'Acme', 'ada%40example.com'],
    ['Acme & Söhne', 'ada+x@example.com', 'Acme%20%26%20S%C3%B6hne', 'ada%2Bx%40example.com'],
    ['Acme: Shop', 'urn:user:7', 'Acme%20Shop', 'urn%20user%207'],
    ['a/b?c#d=e%f', '50% off', 'a%2Fb%3Fc%23d%3De%25f', '50%25%20off'],
    ['日本', 'ユーザー', '%E6%97%A5%E6%9C%AC', '%E3%83%A6%E3%83%BC%E3%82%B6%E3%83%BC'],
    [' : x : ', '7', 'x', '7'],
  ])('with the issuer %j and the holder %j is parsed back', (issuer, holder, issuerLabel, holderLabel) => {
    const uri = otpauthUri(issuer, holder, SECRET);
    expect(uri).toBe(
      `otpauth://totp/${issuerLabel}:${holderLabel}?secret=${SECRET}&issuer=${issuerLabel}&algorithm=SHA1&digits=6&period=30`,
    );
    const { host, pathname, searchParams, hash } = new URL(uri);
    expect({ host, hash }).toEqual({ host: 'totp', hash: '' });
    expect(pathname.slice(1).split(':').map(decodeURIComponent)).toEqual([
      searchParams.get('issuer'),
      decodeURIComponent(holderLabel),
    ]);
  });
});
