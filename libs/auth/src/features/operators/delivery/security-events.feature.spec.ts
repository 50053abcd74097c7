import type { AuthModuleOptions } from '../../../kit';
import { resolveOptions } from '../../../foundation/config/options.testkit';
import { securityEvents } from './security-events.feature';

const RECEIVER = { name: 'crm', endpoint: 'https://crm.example.com/events', audience: 'https://crm.example.com' };

const errorsOf = (options: AuthModuleOptions, isProduction = true): readonly string[] =>
  securityEvents.configErrors!(
    resolveOptions({
      algorithm: 'ES256',
      audience: 'https://api.example.com',
      features: { securityEventTokens: true },
      securityEvents: { receivers: [RECEIVER] },
      ...options,
    }),
    isProduction,
    new Map(),
    [],
  );

const withReceiver = (receiver: object): AuthModuleOptions => ({
  securityEvents: { receivers: [{ ...RECEIVER, ...receiver }] },
});

describe('the receivers of security events', () => {
  it.each<[string, AuthModuleOptions]>([
    ['with ES256', {}],
    ['with RS256', { algorithm: 'RS256' }],
    ['while the feature is off', { algorithm: 'HS256', features: {}, securityEvents: { receivers: [] } }],
    ['in a service that only verifies', { verifyOnly: true, algorithm: 'HS256' }],
  ])('are accepted %s', (_, options) => {
    expect(errorsOf(options)).toEqual([]);
  });

  it.each<[string, AuthModuleOptions, RegExp]>([
    [
      'HS256, with which no receiver can verify',
      { algorithm: 'HS256' },
      /Set algorithm \(SVC_ALGORITHM\) to ES256 or RS256/,
    ],
    ['none', { securityEvents: { receivers: [] } }, /needs securityEvents\.receivers/],
    ['two of one name', { securityEvents: { receivers: [RECEIVER, RECEIVER] } }, /two receivers of one name/],
    ['one without a name', withReceiver({ name: '' }), /receivers\[0\] needs a name and an audience/],
    ['one without an audience', withReceiver({ audience: undefined }), /needs a name and an audience/],
    [
      'one with the audience of access tokens',
      withReceiver({ audience: 'https://api.example.com' }),
      /of access tokens/,
    ],
    ['one without a URL', withReceiver({ endpoint: 'crm' }), /needs an endpoint/],
    ['one that is no http URL', withReceiver({ endpoint: 'ftp://crm.example.com' }), /needs an endpoint/],
    [
      'a password in the URL',
      withReceiver({ endpoint: 'https://a:b@crm.example.com' }),
      /has a password.*Set authorization/,
    ],
    ['http in production', withReceiver({ endpoint: 'http://crm.example.com' }), /Production requires https/],
  ])('are refused: %s', (_, options, text) => {
    expect(errorsOf(options)).toEqual([expect.stringMatching(text)]);
  });

  it('may use http outside production, and a fault is reported once for all guards that share the option', () => {
    const http = withReceiver({ endpoint: 'http://crm.example.com' });
    expect(errorsOf(http, false)).toEqual([]);
    expect(errorsOf({ ...http, guards: { admin: {} } })).toHaveLength(1);
  });
});
