import * as fc from 'fast-check';
import { nameInMail } from './mail-name.policy';

describe('the name of a user in a mail', () => {
  it.each([
    'Ada',
    'Ada Lovelace',
    "Sinéad O'Connor",
    'Jean-Luc Ponty',
    'J. R. R. Tolkien',
    'J.R.R. Tolkien',
    'Martin Luther King, Jr.',
    'Ludwig 14',
    'Ada & Grace',
    'Ada (she)',
    '山田太郎',
    'レオナルド・ダ・ヴィンチ',
    'محمد',
    'עדה',
    'नेहा',
    'می\u200cنا',
    'Nguyễn Thị Minh Khai',
  ])('is %s unchanged', (name) => expect(nameInMail(name)).toBe(name));

  it.each([
    ['of several lines', 'Ada\r\nBcc x', 'Ada Bcc x'],
    ['with line separators', 'Ada\u2028Lovelace\u2029', 'Ada Lovelace'],
    ['with spaces around it', '  Ada \t Lovelace\u00a0', 'Ada Lovelace'],
    ['with control characters', 'A\u0000d\u001ba', 'A d a'],
    ['with overrides of the direction', '\u202eadA\u202c', 'adA'],
    ['with invisible characters', 'A\u200bd\ufeffa\u00ad', 'Ada'],
    ['with letters of another width', 'Ａｄａ', 'Ada'],
  ])('%s has one line of visible characters', (_, text, name) => expect(nameInMail(text)).toBe(name));

  it.each([
    ['a URL', 'Win at https://evil.test/x'],
    ['another scheme', 'javascript:alert(1)'],
    ['a host', 'evil.com'],
    ['a host between words', 'Ada evil.com won'],
    ['a host with a short name', 't.co'],
    ['a host with letters of another script', 'пример.рф'],
    ['a host with a dot of another width', 'evil．com'],
    ['a host with an ideographic full stop', 'evil。com'],
    ['a host with an invisible character', 'evil\u200b.\u200bcom'],
    ['a host with a word joiner', 'evil.\u2060com'],
    ['an address', 'ada@example.com'],
    ['a path', 'Ada/Lovelace'],
    ['a phone number', 'Call 0800 1234'],
    ['a phone number between letters', 'Call 0-8-0-0'],
    ['a number of another script', '٠١٢٣'],
    ['markup', '<b>Ada</b>'],
    ['an entity', 'Ada &#60;'],
    ['a link of Markdown', '[Ada](evil)'],
    ['a placeholder', '{appName}'],
    ['a symbol of advertising', '★ Ada ★'],
    ['an emoji', 'Ada 🎁'],
    ['a sum', '$100 for Ada'],
    ['61 characters', 'a'.repeat(61)],
    ['a text of megabytes', 'a '.repeat(1e6)],
    ['only a mark', '\u0301'],
    ['nothing', ''],
    ['spaces', ' \n '],
    ['null', null],
    ['undefined', undefined],
    ['a number', 7],
    ['an object', { toString: () => 'Ada' }],
  ])('is none for %s', (_, text) => expect(nameInMail(text)).toBeNull());

  it('has 60 letters, of which each may have two code units', () => {
    expect(nameInMail('𠮷'.repeat(60))).toBe('𠮷'.repeat(60));
    expect(nameInMail('𠮷'.repeat(61))).toBeNull();
  });

  it('carries no link, no line break and no markup for any text, and is the name of itself', () => {
    const unit = fc.constantFrom(...'ab.:/@<>&" \n\r\t12{}', '．', '。', '\u2028', '\u200b', '\u202e', 'é', '٣', '𠮷');
    const texts = fc.string({ unit, maxLength: 20 });
    expect(nameInMail('a\r\u202e\ta')).toBe('a a');
    fc.assert(fc.property(texts, (text) => expect(isHarmless(nameInMail(text))).toBe(true)));
  });
});

/** Whether a name has nothing that a mail program makes a link of, and is accepted again. */
const isHarmless = (name: string | null): boolean =>
  name === null || (!/[\r\n\u2028\u2029@:/<>{}]|\.[^\s.]{2}/u.test(name) && nameInMail(name) === name);
