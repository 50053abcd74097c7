import { type ProofTarget, isHolderOf, isTheft, pathOfTarget, proofFault, tokenRefusal } from './proof.policy';

const NOW = 1_700_000_000;
const claims = { jti: 'id', htm: 'GET', htu: 'https://api.test/orders', iat: NOW };
const target: ProofTarget = {
  method: 'GET',
  addresses: ['https://api.test/orders', 'https://www.test/api/orders'],
  now: NOW,
  proofSeconds: 60,
  nonceSeconds: 0,
  nonceAt: null,
  since: 0,
};

describe('the claims of a proof', () => {
  it.each<[string, object, Partial<ProofTarget>, ReturnType<typeof proofFault>]>([
    ['are right', {}, {}, null],
    ['are right at the second address', { htu: 'https://www.test/api/orders' }, {}, null],
    ['have another port', { htu: 'https://api.test:8443/orders' }, {}, 'htu'],
    ['name the default port', { htu: 'https://api.test:443/orders' }, {}, null],
    ['have a host in upper case', { htu: 'https://API.test/orders' }, {}, null],
    ['have a path in upper case', { htu: 'https://api.test/ORDERS' }, {}, 'htu'],
    ['have another scheme', { htu: 'http://api.test/orders' }, {}, 'htu'],
    ['have a longer path', { htu: 'https://api.test/orders/1' }, {}, 'htu'],
    ['have a slash at the end', { htu: 'https://api.test/orders/' }, {}, 'htu'],
    ['have an encoded letter', { htu: 'https://api.test/%6frders' }, {}, null],
    ['have an encoded slash', { htu: 'https://api.test%2forders' }, {}, 'htu'],
    ['are for a transport without an address', {}, { addresses: [] }, 'htu'],
    ['are for a transport without a method', {}, { method: undefined }, 'htm'],
    ['are as old as allowed', { iat: NOW - 60 }, {}, null],
    ['are too old', { iat: NOW - 61 }, {}, 'iat'],
    ['are as far ahead as allowed', { iat: NOW + 60 }, {}, null],
    ['are too far ahead', { iat: NOW + 61 }, {}, 'iat'],
    ['have a time with a fraction', { iat: NOW + 0.5 }, {}, 'iat'],
    ['were made before another server of the store took over', { iat: NOW - 5 }, { since: NOW - 4 }, 'iat'],
    ['were made as it took over', { iat: NOW - 4 }, { since: NOW - 4 }, null],
    ['lack the nonce', {}, { nonceSeconds: 30 }, 'nonce'],
    ['have a nonce and a wrong time', { iat: 0 }, { nonceSeconds: 30, nonceAt: NOW - 30 }, null],
    ['have a nonce that is over', {}, { nonceSeconds: 30, nonceAt: NOW - 31 }, 'nonce'],
    ['have a nonce that was made before', {}, { nonceSeconds: 30, nonceAt: NOW - 5, since: NOW - 4 }, 'nonce'],
  ])('%s', (_, changed, other, fault) =>
    expect(proofFault({ ...claims, ...changed }, { ...target, ...other })).toBe(fault),
  );
});

describe('the sender of an access token', () => {
  const proof = { jkt: 'own', ath: 'hash' };
  it.each<[string, Partial<Parameters<typeof tokenRefusal>[0]>, ReturnType<typeof tokenRefusal>]>([
    ['has proved its key', {}, null],
    ['has sent it as one for its bearer', { scheme: 'bearer' }, 'unproved'],
    ['has sent no proof', { proof: null }, 'unproved'],
    ['has proved another key', { proof: { jkt: 'other', ath: 'hash' } }, 'other_key'],
    ['has a proof for another token', { proof: { jkt: 'own', ath: 'other' } }, 'other_token'],
    ['has a proof for no token', { proof: { jkt: 'own', ath: undefined } }, 'other_token'],
    ['has a token without a key', { jkt: null, scheme: 'bearer', proof: null }, null],
    ['has a token without a key, and sends it as a bound one', { jkt: null }, 'unbound'],
    ['has a token without a key where one is required', { jkt: null, scheme: 'bearer', mode: 'require' }, 'unbound'],
    ['has proved its key where one is required', { mode: 'require' }, null],
  ])('%s', (_, changed, refusal) =>
    expect(tokenRefusal({ scheme: 'dpop', jkt: 'own', ath: 'hash', proof, mode: 'allow', ...changed })).toBe(refusal),
  );
});

describe('the sender of a refresh token', () => {
  it.each<[string, string | null, string | null, 'allow' | 'require', boolean]>([
    ['has the key of the session', 'own', 'own', 'allow', true],
    ['has no key', 'own', null, 'allow', false],
    ['has another key', 'own', 'other', 'require', false],
    ['needs none', null, null, 'allow', true],
    ['binds no session', null, 'own', 'allow', true],
    ['has a session without a key where one is required', null, 'own', 'require', false],
  ])('%s', (_, session, proved, mode, may) => expect(isHolderOf(session, proved, mode)).toBe(may));
});

describe('the path of the target of a request', () => {
  it.each<[string, string | null]>([
    ['/orders', '/orders'],
    ['/orders?page=2#top', '/orders'],
    ['/users/ada%40example.com', '/users/ada%40example.com'],
    ['/a%3Fb', '/a%3Fb'],
    ['https://api.test/orders?x', '/orders'],
    ['https://api.test', '/'],
    ['//api.test/orders', '//api.test/orders'],
    ['/a/../b', null],
    ['/a/%2E%2e/b', null],
    ['/a/.', null],
    ['/a/...', '/a/...'],
    ['/a\\b', null],
    ['/a b', null],
    ['/a\tb', null],
    ['/\u00e4', null],
  ])('of %s is %s', (sent, path) => expect(pathOfTarget(sent)).toBe(path));
});

describe('a wrong proof', () => {
  it.each<[string, Parameters<typeof isTheft>, boolean]>([
    ['that cannot be read is one of a thief', [{ jkt: null, fault: 'form' }, 'own'], true],
    ['of another key is one of a thief', [{ jkt: 'other', fault: 'iat' }, 'own'], true],
    ['that was used before is one of a thief', [{ jkt: 'own', fault: 'replayed' }, 'own'], true],
    ['of the own key, with a wrong clock, is not', [{ jkt: 'own', fault: 'iat' }, 'own'], false],
    ['of a session without a key is not', [{ jkt: 'other', fault: 'iat' }, null], false],
  ])('%s', (_, values, theft) => expect(isTheft(...values)).toBe(theft));
});
