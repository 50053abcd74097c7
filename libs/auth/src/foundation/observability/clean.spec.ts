import * as fc from 'fast-check';
import { clean } from './security-log';

describe('a value in the log', () => {
  it.each([
    ['1', '1'],
    ['2001:db8::/64', '2001:db8::/64'],
    ['héllo 🔑', 'héllo 🔑'],
    ['a\r\nauth.login.succeeded', 'a??auth.login.succeeded'],
    ['\u001b[31mred\u0000\u007f\u0085', '?[31mred???'],
    ['a\u2028b\u2029c', 'a?b?c'],
    ['\u202eabc\u2066\u200b', '?abc??'],
    ['\ud800x', '?x'],
  ])('%j is written as %j', (value, written) => expect(clean(value)).toBe(written));

  it('is shortened, and no character is split', () => {
    expect(clean('x'.repeat(1e6))).toHaveLength(128);
    expect(Array.from(clean('🔑'.repeat(1000)))).toHaveLength(128);
  });

  it('is one line of limited length for every input', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (value) => {
        const written = clean(value);
        expect(Array.from(written).length).toBeLessThanOrEqual(128);
        expect(written).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      }),
    );
  });
});
