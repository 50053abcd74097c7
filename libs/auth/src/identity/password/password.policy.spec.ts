import { lengthOf, passwordFault, spellings } from './password.policy';

const measure = (minLength = 8, ...known: string[]) => ({ minLength, known });

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
  ])('%j is judged %s', (password, fault) => {
    expect(passwordFault(password, measure())).toBe(fault);
  });

  it('is as long as the host says', () => {
    expect(passwordFault('x'.repeat(14), measure(15))).toBe('too_short');
    expect(passwordFault('x'.repeat(15), measure(15))).toBeNull();
  });

  it.each([
    'ada.lovelace@example.com',
    'ADA.Lovelace@Example.COM',
    'ada.lovelace',
    'AdaLovelace',
    ' ada lovelace! ',
    'Analytical Engine',
    'analyticalengine',
  ])('is not a known text: %s', (password) => {
    expect(passwordFault(password, measure(8, 'ada.lovelace@example.com', 'Analytical Engine'))).toBe('known');
  });

  it('may contain it, and is not the empty name of an application', () => {
    expect(passwordFault('ada.lovelace and more', measure(8, 'ada.lovelace@example.com'))).toBeNull();
    expect(passwordFault('🔑'.repeat(8), measure(8, '', '@', '!!!'))).toBeNull();
  });

  it('is counted in characters', () => {
    expect([lengthOf('é'), lengthOf('🔑'), lengthOf('日本')]).toEqual([1, 1, 2]);
  });

  it('is looked up in lower case, forwards and backwards', () => {
    expect(spellings('Poiuytrewq')).toEqual(['poiuytrewq', 'qwertyuiop']);
  });
});
