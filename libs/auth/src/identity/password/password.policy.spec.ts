import { lengthOf, passwordFault, spellings } from './password.policy';

const rules = (minLength = 8, ...known: string[]) => ({ minLength, known });

describe('a new password', () => {
  it.each([
    ['1234567', 'too_short'],
    ['12345678', null],
    ['', 'too_short'],
    ['🔑🔑🔑🔑', 'too_short'],
    ['🔑'.repeat(8), null],
    ['all lower case and long', null],
    ['x'.repeat(64), null],
    ['x'.repeat(255), null],
    ['x'.repeat(256), 'too_long'],
    ['🔑'.repeat(255), null],
    ['🔑'.repeat(256), 'too_long'],
    ['        ', null],
    ['good-pass\0word', 'unstorable'],
    ['\0', 'unstorable'],
  ])('such as %j has the fault %s', (password, fault) => {
    expect(passwordFault(password, rules())).toBe(fault);
  });

  it('has at least the length that the host configures', () => {
    expect(passwordFault('x'.repeat(14), rules(15))).toBe('too_short');
    expect(passwordFault('x'.repeat(15), rules(15))).toBeNull();
  });

  it.each([
    'ada.lovelace@example.com',
    'ADA.Lovelace@Example.COM',
    'ada.lovelace',
    'AdaLovelace',
    ' ada lovelace! ',
    'Analytical Engine',
    'analyticalengine',
  ])('must not be a known text: %s', (password) => {
    expect(passwordFault(password, rules(8, 'ada.lovelace@example.com', 'Analytical Engine'))).toBe('known');
  });

  it('may contain a known text, and is not compared with a known text without letters and digits', () => {
    expect(passwordFault('ada.lovelace and more', rules(8, 'ada.lovelace@example.com'))).toBeNull();
    expect(passwordFault('🔑'.repeat(8), rules(8, '', '@', '!!!'))).toBeNull();
  });

  it('is measured in code points', () => {
    expect([lengthOf('é'), lengthOf('🔑'), lengthOf('日本')]).toEqual([1, 1, 2]);
  });

  it('is looked up in lower case, forward and reversed', () => {
    expect(spellings('Poiuytrewq')).toEqual(['poiuytrewq', 'qwertyuiop']);
  });
});
