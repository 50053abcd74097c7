import { isEmailAddress } from './request-body';

describe('an email address', () => {
  it.each([
    'ada@example.com',
    'a@b.c',
    'x@localhost',
    "o'hara+tag@example.com",
    'дядя@example.com',
    'ada@münchen.de',
    `${'x'.repeat(64)}@example.com`,
  ])('may be %s', (text) => expect(isEmailAddress(text)).toBe(true));

  it.each<[string, unknown]>([
    ['empty', ''],
    ['null', null],
    ['a list', ['ada@example.com']],
    ['a text without @', 'ada'],
    ['a quoted local part', '"ada"@example.com'],
    ['a quoted line break', '"a\r\nBcc: x"@corp.com'],
    ['a quoted address', '"evil@gmail.com x"@corp.com'],
    ['a quoted comma', '"eve@evil.test,"@corp.com'],
    ['a display name', 'Ada <ada@example.com>'],
    ['two addresses', 'ada@example.com,eve@example.com'],
    ['a comment', 'ada(eve@evil.test)@example.com'],
    ['an address literal', 'ada@[127.0.0.1]'],
    ['a line break after it', 'ada@example.com\n'],
    ['a line break before it', '\nada@example.com'],
    ['a line break in it', 'ada\r\n@example.com'],
    ['a NUL', 'ada\0@example.com'],
    ['a line separator', 'ada\u2028@example.com'],
    ['a space', 'a da@example.com'],
    ['an ideographic space', 'a\u3000da@example.com'],
    ['a zero-width character', 'ada\u200b@example.com'],
    ['a zero-width character in the host', 'ada@exam\u200bple.com'],
    ['a change of the writing direction', 'ada\u202e@example.com'],
    ['a full-width @', 'evil\uff20gmail.com@corp.com'],
    ['a full-width quotation mark', '\uff02eve\uff02@corp.com'],
    ['an unpaired surrogate', 'ada\ud800@example.com'],
    ['a very long host', `a@${'b.'.repeat(1_000_000)}c`],
    ['a local part of 65 characters', `${'x'.repeat(65)}@example.com`],
  ])('must not be %s', (_, text) => expect(isEmailAddress(text)).toBe(false));
});
