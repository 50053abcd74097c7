import * as fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { shownAddress } from '../gates/request-log';
import { clientAddress } from './client-info';

interface Cases {
  groups: { same_bucket: string[]; expected_key_prefix64: [string] }[];
  masks: { addr: string; prefix: number; network: string }[];
  invalid: string[];
}

const vectors = <T>(name: string): T =>
  JSON.parse(readFileSync(join(__dirname, `../../../../../test/vectors/ip/${name}.json`), 'utf8'));

const { groups: clients, masks, invalid } = vectors<Cases>('ratelimit_key_cases');
const { canonical: spelled } = vectors<{ canonical: { in: string; out: string }[] }>('rfc5952');
const { ipv4, rows } = vectors<{ ipv4: string; rows: { prefix: string; addr: string }[] }>('rfc6052');

const WELL_KNOWN = '64:ff9b::/96';

describe('a client address', () => {
  it.each(clients.flatMap(({ same_bucket, expected_key_prefix64: [key] }) => same_bucket.map((ip) => [ip, key])))(
    'such as %s has the client key %s',
    (ip, key) => expect(clientAddress(ip, 64)).toBe(key),
  );

  it('has a different key in every other group', () => {
    const named = clients.map(({ same_bucket }) => new Set(same_bucket.map((ip) => clientAddress(ip, 64))));
    expect(named.map(({ size }) => size)).toEqual(clients.map(() => 1));
    expect(new Set(named.flatMap((names) => [...names])).size).toBe(clients.length);
  });

  it.each(masks)('such as $addr has, with the prefix $prefix, the key $network', ({ addr, prefix, network }) => {
    expect(clientAddress(addr, prefix)).toBe(network);
  });

  it.each(spelled.filter(({ out }) => !out.startsWith('::ffff:')))(
    'such as $in is normalized to $out',
    ({ in: ip, out }) => {
      expect(clientAddress(ip, 128)).toBe(`${out}/128`);
    },
  );

  it.each(spelled.filter(({ out }) => out.startsWith('::ffff:')))(
    'such as $in is the IPv4 address that it contains',
    ({ in: ip, out }) => {
      for (const prefix of [32, 64, 128]) expect(clientAddress(ip, prefix)).toBe(out.slice('::ffff:'.length));
    },
  );

  it.each(['::192.0.2.1', '::c000:201', '0:0:0:0:0:0:192.0.2.1'])('such as %s is not an IPv4 address', (ip) => {
    expect(clientAddress(ip, 128)).toBe('::c000:201/128');
    expect(clientAddress(ip, 64)).toBe('::/64');
  });

  it('of a NAT64 with the well-known prefix is the IPv4 address', () => {
    const { addr } = rows.find(({ prefix }) => prefix === WELL_KNOWN)!;
    for (const prefix of [32, 64, 128]) expect(clientAddress(addr, prefix)).toBe(ipv4);
  });

  it.each(rows.filter(({ prefix }) => prefix !== WELL_KNOWN))(
    'such as $addr is masked, because any network may use $prefix',
    ({ addr }) => expect(clientAddress(addr, 64)).toBe(naive(numberOf(addr), 64)),
  );

  it.each(invalid.filter((ip) => !ip.includes('%')))('such as %j, which is invalid, is unknown', (ip) => {
    for (const prefix of [32, 64, 128]) expect(clientAddress(ip, prefix)).toBe('unknown');
  });

  it.each(['%eth0', '%1', '%a-b'])('with the zone %s is the address without it', (zone) => {
    expect(clientAddress(`2001:db8::1${zone}`, 64)).toBe('2001:db8::/64');
    expect(clientAddress(`::ffff:192.0.2.1${zone}`, 64)).toBe('192.0.2.1');
  });

  it.each([[''], [undefined], [null], [0], [7], [true], [['203.0.113.7']], [{ toString: () => '203.0.113.7' }]])(
    'of %p is unknown',
    (ip) => expect(clientAddress(ip, 64)).toBe('unknown'),
  );

  it('of IPv4 remains unchanged for every prefix', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.integer({ min: 32, max: 128 }), (ip, prefix) => {
        expect(clientAddress(ip, prefix)).toBe(ip);
      }),
    );
  });

  it('of IPv6 is its network for every prefix, in every notation', () => {
    const group = fc.oneof(fc.constantFrom(0, 1, 0xffff), fc.integer({ min: 0, max: 0xffff }));
    const any = fc.array(group, { minLength: 8, maxLength: 8 });
    const low = fc.array(group, { minLength: 2, maxLength: 2 });
    const mapped = low.map((tail) => [0, 0, 0, 0, 0, 0xffff, ...tail]);
    const nat64 = low.map((tail) => [0x64, 0xff9b, 0, 0, 0, 0, ...tail]);
    const nearly = low.map((tail) => [0x64, 0xff9b, 0, 0, 0, 1, ...tail]);
    fc.assert(
      fc.property(fc.oneof(any, mapped, nat64, nearly), (address) => {
        const number = address.reduce((sum, part) => (sum << 16n) | BigInt(part), 0n);
        const prefixes = Array.from({ length: 97 }, (_, i) => 32 + i);
        const expected = prefixes.map((prefix) => naive(number, prefix));
        // One comparison for each notation, because 97 comparisons would take most of the time.
        for (const ip of spellings(address))
          expect([ip, ...prefixes.map((prefix) => clientAddress(ip, prefix))]).toEqual([ip, ...expected]);
      }),
      { numRuns: 200 },
    );
  });
});

describe('the address that people see', () => {
  it.each(clients.flatMap(({ same_bucket }) => same_bucket))('is that of the client: %s', (ip) => {
    const seen = /^(?:0:){5}ffff:|^::ffff:/i.test(ip) ? clientAddress(ip, 64) : ip;
    expect(shownAddress(ip)).toBe(seen);
  });

  it.each(spelled.filter(({ out }) => out.startsWith('::ffff:')))('is IPv4 for $in', ({ in: ip, out }) => {
    expect(shownAddress(ip)).toBe(out.slice('::ffff:'.length));
  });

  it.each([...invalid.filter((ip) => !ip.includes('%')), undefined, null, 7, ['192.0.2.1']])('is none for %j', (ip) => {
    expect(shownAddress(ip)).toBeNull();
  });

  it('has no zone', () => expect(shownAddress('fe80::1%eth0')).toBe('fe80::1'));

  it('is not IPv4 for a compatible address, which is not mapped', () => {
    expect(shownAddress('::192.0.2.1')).toBe('::192.0.2.1');
  });
});

/** Returns an address in full, padded in upper case, with a dotted tail, and shortened. */
function spellings(groups: number[]): string[] {
  const full = groups.map((group) => group.toString(16)).join(':');
  const padded = groups.map((group) => group.toString(16).padStart(4, '0').toUpperCase()).join(':');
  const dotted = `${full.split(':').slice(0, 6).join(':')}:${dottedTail(BigInt(groups[6]! * 0x10000 + groups[7]!))}`;
  return [full, padded, dotted, shortened(groups)];
}

/** An independent implementation on one big integer. */
function naive(address: bigint, prefix: number): string {
  const high = address >> 32n;
  if (high === 0xffffn || high === 0x64_ff9b_0000_0000_0000_0000n) return dottedTail(address & 0xffff_ffffn);
  const cleared = BigInt(128 - prefix);
  const network = (address >> cleared) << cleared;
  const groups = Array.from({ length: 8 }, (_, i) => Number((network >> BigInt(112 - 16 * i)) & 0xffffn));
  return `${shortened(groups)}/${prefix}`;
}

const dottedTail = (low: bigint): string => [24n, 16n, 8n, 0n].map((bits) => (low >> bits) & 0xffn).join('.');

/** RFC 5952 §4: the first of the longest runs of at least two zeros is omitted. */
function shortened(groups: number[]): string {
  for (let length = 8; length >= 2; length--) {
    for (let at = 0; at + length <= 8; at++) {
      if (groups.slice(at, at + length).some(Boolean)) continue;
      const [before, after] = [groups.slice(0, at), groups.slice(at + length)];
      return [before, after].map((part) => part.map((group) => group.toString(16)).join(':')).join('::');
    }
  }
  return groups.map((group) => group.toString(16)).join(':');
}

/** Parses an address, in full or with `::`, with an optional dotted tail, into one big number. */
function numberOf(address: string): bigint {
  const hex = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) =>
    [a * 256 + Number(b), c * 256 + Number(d)].map((group) => group.toString(16)).join(':'),
  );
  const [before = [], after = []] = hex.split('::').map((part) => part.split(':').filter(Boolean));
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
}
