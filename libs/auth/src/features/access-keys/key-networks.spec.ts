import { isInNetworks, networkOf, placeOf } from './key-grant';

describe('a network of an access key', () => {
  it.each<[unknown, string | null]>([
    ['192.0.2.7/24', '192.0.2.0/24'],
    ['192.0.2.7', '192.0.2.7/32'],
    [' 10.0.0.0/8 ', '10.0.0.0/8'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:DB8::1/48', '2001:db8::/48'],
    ['::1', '::1/128'],
    ['::ffff:192.0.2.7', '192.0.2.7/32'],
    ['::ffff:192.0.2.7/120', '192.0.2.0/24'],
    ['::ffff:192.0.2.7/95', null],
    ['192.0.2.7/33', null],
    ['192.0.2.7/024', null],
    ['192.0.2.7/', null],
    ['192.0.2.7/24/8', null],
    ['2001:db8::1/129', null],
    ['fe80::1%eth0', null],
    ['fe80::1%a-b', null],
    ['192.0.2', null],
    ['010.0.0.1', null],
    ['example.com', null],
    ['', null],
    [null, null],
    [7, null],
  ])('%j is %j', (text, network) => expect(networkOf(text)).toBe(network));

  it.each<[unknown, string[], boolean]>([
    ['192.0.2.7', ['192.0.2.0/24'], true],
    ['192.0.3.7', ['192.0.2.0/24'], false],
    ['::ffff:192.0.2.7', ['192.0.2.0/24'], true],
    ['2001:db8::7', ['192.0.2.0/24', '2001:db8::/32'], true],
    ['fe80::1%eth0', ['fe80::/10'], true],
    ['192.0.2.7', ['::/0'], false],
    ['::1', ['0.0.0.0/0'], false],
    // Not a mapped address (RFC 4291 §2.5.5.1).
    ['::192.0.2.7', ['192.0.2.0/24'], false],
    ['::192.0.2.7', ['::/96'], true],
    ['unknown', ['0.0.0.0/0', '::/0'], false],
    [undefined, ['0.0.0.0/0'], false],
  ])('a client at %j is in %j: %s', (ip, networks, isIn) => expect(isInNetworks(ip, networks)).toBe(isIn));

  it.each<[unknown, string | null]>([
    ['192.0.2.7', '192.0.2.0/24'],
    ['::ffff:192.0.2.7', '192.0.2.0/24'],
    ['2001:db8:1:2::7', '2001:db8:1::/48'],
    ['here', null],
    [undefined, null],
  ])('the place of %j is %j', (ip, place) => expect(placeOf(ip)).toBe(place));
});
