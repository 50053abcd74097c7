import { type ImportedFactor, importedSecret } from './imported-factor';

const BITS_80 = 'GEZDGNBVGY3TQOJQ';
const BITS_160 = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const uri = (query: string, type = 'totp') => `otpauth://${type}/Acme:ada%40example.com?${query}`;
const encode = (bytes: Uint8Array): string => `encoded ${bytes.length}`;

describe('the secret of an imported factor', () => {
  it.each<[string, ImportedFactor, string]>([
    ['base32', { secret: BITS_160 }, BITS_160],
    ['base32 of 80 bits', { secret: BITS_80 }, BITS_80],
    ['lower case in groups', { secret: ' gezd gnbv\tgy3t-qojq ' }, BITS_80],
    ['padding', { secret: 'GEZDGNBVGY3TQOI=' }, 'GEZDGNBVGY3TQOI'],
    ['bytes', { secret: Buffer.alloc(20) }, 'encoded 20'],
    ['a URI', { secret: uri(`secret=${BITS_80}&issuer=Acme`) }, BITS_80],
    ['a URI with all parameters', { secret: uri(`secret=${BITS_80}&algorithm=SHA1&digits=6&period=30`) }, BITS_80],
    ['a URI in other case', { secret: uri(`secret=${BITS_80}&algorithm=sha1`, 'TOTP').replace('otp', 'OTP') }, BITS_80],
    ['a URI with spaces in the secret', { secret: uri('secret=gezd+gnbv%20gy3t+qojq') }, BITS_80],
    ['supported parameters', { secret: BITS_80, algorithm: 'HmacSHA1', digits: 6, period: 30 }, BITS_80],
    ['parameters that are null', { secret: BITS_80, algorithm: null, digits: null, period: null }, BITS_80],
  ])('is read from %s', (_, factor, secret) => expect(importedSecret(factor, encode)).toBe(secret));

  it.each<[string, object]>([
    ['an empty text', { secret: '' }],
    ['padding only', { secret: '====' }],
    ['other characters', { secret: 'GEZDGNBVGY3TQO1Q' }],
    ['letters that are base32 only in upper case', { secret: 'GEZDGNBVGY3TQOJı' }],
    ['padding inside', { secret: 'GEZD=GNBVGY3TQOJQ' }],
    ['a number', { secret: 12 }],
    ['null', { secret: null }],
    ['no value', {}],
    ['an array', { secret: [BITS_80] }],
    ['SHA-256', { secret: BITS_160, algorithm: 'SHA256' }],
    ['SHA-512', { secret: BITS_160, algorithm: 'HmacSHA512' }],
    ['eight digits', { secret: BITS_160, digits: 8 }],
    ['60 seconds', { secret: BITS_160, period: 60 }],
    ['bytes with eight digits', { secret: Buffer.alloc(20), digits: 8 }],
    ['a URI without a secret', { secret: uri('issuer=Acme') }],
    ['a URI with a URI as its secret', { secret: uri(`secret=${encodeURIComponent(uri(`secret=${BITS_80}`))}`) }],
    ['a URI with SHA-256', { secret: uri(`secret=${BITS_160}&algorithm=SHA256`) }],
    ['a URI with eight digits', { secret: uri(`secret=${BITS_160}&digits=8`) }],
    ['a URI with empty digits', { secret: uri(`secret=${BITS_160}&digits=`) }],
    ['a URI with 60 seconds', { secret: uri(`secret=${BITS_160}&period=60`) }],
    ['a URI of a counter', { secret: uri(`secret=${BITS_160}&counter=1`, 'hotp') }],
    ['a URI that cannot be parsed', { secret: 'otpauth://[' }],
    ['a URI of another scheme', { secret: `https://totp/?secret=${BITS_160}` }],
  ])('is refused for %s', (_, factor) => expect(importedSecret(factor as ImportedFactor, encode)).toBeNull());
});
