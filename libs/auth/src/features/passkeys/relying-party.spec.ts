import type { AuthModuleOptions } from '../../foundation/config/auth-options';
import { acceptedOrigins, relyingPartyErrors } from './relying-party';
import { resolveOptions } from '../../foundation/config/options.testkit';

const sound = { rpId: 'example.com', origins: ['https://example.com'] };

const refused = (passkeys: object, more: object = {}): string[] =>
  relyingPartyErrors(
    resolveOptions({ features: { passkeys: true }, passkeys: { ...sound, ...passkeys }, ...more } as AuthModuleOptions),
  );

describe('passkeys', () => {
  it.each<[string, object]>([
    ['a domain and its own origin', {}],
    ['a domain below another', { rpId: 'login.example.co.uk', origins: ['https://login.example.co.uk'] }],
    ['origins below the domain', { origins: ['https://example.com', 'https://a.b.example.com:8443'] }],
    [
      'a domain that is written in another script',
      { rpId: 'xn--bcher-kva.example', origins: ['https://xn--bcher-kva.example'] },
    ],
    ['a domain below a rented one', { rpId: 'team.github.io', origins: ['https://team.github.io'] }],
    ['an intranet domain', { rpId: 'app.internal', origins: ['https://app.internal'] }],
    [
      'localhost',
      { rpId: 'localhost', origins: ['http://localhost:3000', 'https://localhost', 'http://app.localhost'] },
    ],
    ['every kind of user verification', { userVerification: 'discouraged' }],
  ])('start with %s', (_, passkeys) => expect(refused(passkeys)).toEqual([]));

  it.each<[string, object, RegExp]>([
    ['without a relying party', { rpId: undefined }, /passkeys\.rpId \(SVC_PASSKEY_RP_ID\)/],
    ['with an empty relying party', { rpId: '' }, /needs passkeys\.rpId/],
    ['without origins', { origins: [] }, /passkeys\.origins \(SVC_PASSKEY_ORIGINS\)/],
    [
      'with an unknown user verification',
      { userVerification: 'always' },
      /userVerification \(SVC_PASSKEY_UV\) is "always"/,
    ],
  ])('do not start %s', (_, passkeys, text) => {
    const [first, ...more] = refused(passkeys);
    expect(first).toMatch(text);
    expect(more).toEqual([]);
  });

  it.each(['com', 'co.uk', 'github.io', 'herokuapp.com', 'example', 'internal'])('do not start for all of %s', (rpId) =>
    expect(refused({ rpId, origins: [`https://${rpId}`] })).toEqual([expect.stringMatching(/anyone can register/)]),
  );

  it.each([
    'Example.com',
    'https://example.com',
    'example.com:443',
    'example.com/',
    'example.com.',
    ' example.com',
    '.example.com',
    'a..example.com',
    'bücher.example',
    '127.0.0.1',
    '[::1]',
    '::1',
    '1.2.3',
    '*.example.com',
    'user@example.com',
  ])('do not start for the relying party "%s"', (rpId) => {
    expect(refused({ rpId, origins: ['https://example.com'] })[0]).toMatch(
      /which is not a domain\. Use one in lower case/,
    );
  });

  it.each([
    'https://example.com/',
    'https://example.com/login',
    'https://example.com?a',
    'https://Example.com',
    'HTTPS://example.com',
    'https://example.com:443',
    'https://user@example.com',
    'http://example.com',
    'http://localhost.example.com',
    'ws://example.com',
    'example.com',
    '*',
    'null',
    'https://*.example.com/',
    'https://*.example.com',
    'chrome-extension://abcdefghijklmnop',
  ])('do not start with the origin "%s"', (origin) => {
    expect(refused({ origins: ['https://example.com', origin] })).toEqual([
      expect.stringMatching(/not the exact origin/),
    ]);
  });

  it.each(['https://example.org', 'https://badexample.com', 'https://example.com.evil.org', 'https://com'])(
    'do not start with %s, which is not below the relying party',
    (origin) => expect(refused({ origins: [origin] })).toEqual([expect.stringMatching(/neither .* nor below it/)]),
  );

  const HASH = 'pNiP5iKyQ8JwgGOaKA1zGPUPJIS0-0JxgbGTNUGX_Aw';
  const SPELLINGS = [
    HASH,
    `${HASH}=`,
    HASH.replace('-', '+').replace('_', '/'),
    'pNiP5iKyQ8JwgGOaKA1zGPUPJIS0+0JxgbGTNUGX/Aw=',
  ];

  it.each(SPELLINGS)('accept an Android application in every spelling of its hash: %s', (hash) => {
    const origins = ['https://example.com', `android:apk-key-hash:${hash}`];
    expect(refused({ origins })).toEqual([]);
    const accepted = acceptedOrigins({ origins, relatedOrigins: ['https://example.net'] });
    expect(accepted.toSorted()).toEqual(
      [
        ...SPELLINGS.map((text) => `android:apk-key-hash:${text}`),
        'https://example.com',
        'https://example.net',
      ].toSorted(),
    );
  });

  it.each([
    'android:apk-key-hash:',
    `android:apk-key-hash:${HASH.slice(1)}`,
    `android:apk-key-hash:${HASH}==`,
    `android:apk-key-hash:${HASH} `,
    `android:apk-key-hash-sha1:${HASH}`,
    `android:com.example.app`,
    'android:apk-key-hash:A4:D8:8F:E6:22:B2:43:C2:70:80:63:9A:28:0D:73:18:F5:0F',
  ])('do not start with the Android application "%s"', (origin) =>
    expect(refused({ origins: [origin] })).toEqual([expect.stringMatching(/not the origin of an Android application/)]),
  );

  it('accept related origins on other domains', () =>
    expect(refused({ relatedOrigins: ['https://example.net', 'https://shop.example.org:8443'] })).toEqual([]));

  it.each([
    'http://example.net',
    'http://localhost:3000',
    'https://example.net/',
    'https://*.example.net',
    'https://Example.net',
    'example.net',
    `android:apk-key-hash:${HASH}`,
  ])('do not start with the related origin "%s"', (origin) =>
    expect(refused({ relatedOrigins: [origin] })).toEqual([
      expect.stringMatching(/not the exact origin of a page with https/),
    ]),
  );

  it.each(['https://example.com', 'https://app.example.com'])(
    'do not start with the own origin %s as a related one',
    (origin) =>
      expect(refused({ relatedOrigins: [origin] })).toEqual([expect.stringMatching(/Move it to passkeys\.origins/)]),
  );

  it('do not start with an unknown rule for a change of the backup eligibility', () =>
    expect(refused({ backupChange: 'ignore' })).toEqual([
      expect.stringMatching(/\(SVC_PASSKEY_BACKUP_CHANGE\) is "ignore"/),
    ]));

  it('may be configured badly where they are off, and at extra guards, which have none', () => {
    expect(refused({ rpId: undefined }, { features: {} })).toEqual([]);
    const admin = { passkeys: { rpId: 'com', origins: [] }, features: { passkeys: true } };
    expect(refused({}, { guards: { admin } })).toEqual([]);
  });

  it('are not required where they are off', () => {
    const features = { passkeys: false };
    expect(refused({ required: true }, { features })).toEqual([expect.stringMatching(/^passkeys\.required is set/)]);
    expect(refused({ required: () => true }, { features })).toHaveLength(1);
    expect(refused({ required: false }, { features })).toEqual([]);
  });
});
