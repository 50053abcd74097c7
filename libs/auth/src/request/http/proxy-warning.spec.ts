import { Logger } from '@nestjs/common';
import { ProxyWarning } from './client-info';

type Seen = Parameters<ProxyWarning['observe']>[0];

const FORWARDED = { 'x-forwarded-for': '203.0.113.7' };

describe('the proxy warning', () => {
  let warned: jest.SpyInstance;
  let proxyWarning: ProxyWarning;

  beforeEach(() => {
    warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    proxyWarning = new ProxyWarning();
  });

  const observe = (times: number, seen: Seen): void => {
    for (let i = 0; i < times; i++) proxyWarning.observe(seen);
  };

  it.each<[string, Seen]>([
    ['10.0.0.1', { ip: '10.0.0.1' }],
    ['172.16.0.1', { ip: '172.16.0.1' }],
    ['192.168.1.1', { ip: '192.168.1.1' }],
    ['169.254.1.1', { ip: '169.254.1.1' }],
    ['100.64.0.1 of a carrier-grade NAT', { ip: '100.64.0.1' }],
    ['a mapped 10.0.0.1', { ip: '::ffff:10.0.0.1' }],
    ['fd00::1', { ip: 'fd00::1' }],
    ['fe80::1', { ip: 'fe80::1' }],
    ['a proxy on this machine', { ip: '127.0.0.1', headers: FORWARDED }],
    ['a proxy on this machine over IPv6', { ip: '::1', headers: { forwarded: 'for=203.0.113.7' } }],
    ['a proxy on this machine over mapped IPv4', { ip: '::ffff:127.0.0.1', headers: FORWARDED }],
  ])('is logged once when twenty requests come from %s', (_, seen) => {
    observe(19, seen);
    expect(warned).not.toHaveBeenCalled();
    observe(1, seen);
    expect(warned).toHaveBeenCalledTimes(1);
    expect(warned).toHaveBeenCalledWith(
      expect.stringContaining(
        `20 rate-limited requests all came from the private address ${String(seen.ip).replace('::ffff:', '')}`,
      ),
    );
    expect(warned).toHaveBeenCalledWith(expect.stringMatching(/trust proxy.*hooks\.rateLimitKey/));
    observe(100, seen);
    expect(warned).toHaveBeenCalledTimes(1);
  });

  it.each<[string, Seen]>([
    ['no address', { ip: undefined }],
    ['a Unix socket', { headers: FORWARDED }],
  ])('is logged once when twenty requests come from %s', (_, seen) => {
    observe(100, seen);
    expect(warned).toHaveBeenCalledTimes(1);
    expect(warned).toHaveBeenCalledWith(expect.stringContaining('20 rate-limited requests all came from no address'));
  });

  it('is logged once when a proxy forwards a text that is no address, and does not show the text', () => {
    for (const ip of ['203.0.113.7:52100', 'edge.example.com', 'secret']) observe(1, { ip });
    expect(warned).toHaveBeenCalledTimes(1);
    expect(warned).toHaveBeenCalledWith(expect.stringMatching(/no IP address.*hooks\.rateLimitKey/));
    expect(warned).not.toHaveBeenCalledWith(expect.stringMatching(/52100|edge/));
  });

  it.each<[string, Seen]>([
    ['a public address', { ip: '203.0.113.7' }],
    ['a public address with a forwarding header', { ip: '8.8.8.8', headers: FORWARDED }],
    ['a public address over IPv6', { ip: '2606:4700::1111' }],
    ['a developer`s machine', { ip: '127.0.0.1', headers: {} }],
    ['a developer`s machine over IPv6', { ip: '::1' }],
  ])('is not logged for %s', (_, seen) => {
    observe(100, seen);
    expect(warned).not.toHaveBeenCalled();
  });

  it.each<[string, Seen]>([
    ['another private address', { ip: '10.0.0.2' }],
    ['a public address', { ip: '203.0.113.7' }],
    ['no address', { ip: undefined }],
  ])('is never logged when one of the first twenty requests comes from %s', (_, other) => {
    observe(19, { ip: '10.0.0.1' });
    proxyWarning.observe(other);
    observe(100, { ip: '10.0.0.1' });
    expect(warned).not.toHaveBeenCalled();
  });

  it('is never logged when the first request comes from another address', () => {
    observe(1, { ip: '203.0.113.7' });
    observe(100, { ip: '10.0.0.1' });
    expect(warned).not.toHaveBeenCalled();
  });
});
