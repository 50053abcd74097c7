import * as fc from 'fast-check';
import { flawOf, flawOfScope } from './ability.policy';

describe('an ability name', () => {
  it.each([
    ['orders.read'],
    ['orders.*'],
    ['*'],
    ['0'],
    ['svc.account.delete'],
    ["!#$%&'()*+-./:;<=>?@[]^_`{|}~"],
    ['x'.repeat(128)],
  ])('may be %s', (name) => expect(flawOf(name)).toBeUndefined());

  it.each([
    ['of spaces', '  '],
    ['with a space around it', ' orders'],
    ['two words', 'orders read'],
    ['a list', 'orders.read,orders.write'],
    ['quoted', '"orders"'],
    ['escaped', 'orders\\read'],
    ['accented', 'commandé'],
    ['of another script', '注文'],
    ['an emoji', '🔑'],
    ['with a line break', 'orders\n'],
    ['with a tab', 'orders\t'],
    ['with a NUL', 'orders\0'],
    ['with a DEL character', 'orders\x7f'],
  ])('may not be %s', (_, name) =>
    expect(flawOf(name)).toMatch(/characters outside RFC 6749's scope-token, or a comma/),
  );

  it('may not be empty', () => expect(flawOf('')).toMatch(/must not be empty/));

  it('may not have 129 bytes', () => expect(flawOf('x'.repeat(129))).toMatch(/longer than 128 bytes/));

  it.each<[string, unknown]>([
    ['number', 7],
    ['null', null],
    ['undefined', undefined],
    ['boolean', true],
    ['object', ['orders']],
    ['object', new String('orders')],
  ])('must be a string, not a value of type %s', (type, name) => {
    expect(flawOf(name)).toBe(`An ability must be a string, not ${type}.`);
  });

  it.each([
    ['too long', 'x'.repeat(100_000)],
    ['of wrong characters', `${'x'.repeat(119)},,,,,,,,`],
  ])('that is %s appears in the error with its first 120 characters', (_, name) => {
    expect(flawOf(name)).toContain(`"${name.slice(0, 120)}…"`);
    expect(flawOf(name)!.length).toBeLessThan(250);
  });

  it('follows RFC 6749 §3.3, without the comma', () => {
    const character = fc.integer({ min: 0, max: 0x2ff }).map((code) => String.fromCharCode(code));
    fc.assert(
      fc.property(fc.array(character, { minLength: 1, maxLength: 3 }), (characters) => {
        const allowed = characters.every((c) => c > ' ' && c < '\x7f' && !'",\\'.includes(c));
        expect(flawOf(characters.join('')) === undefined).toBe(allowed);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('a scope', () => {
  it('may have at most 2048 bytes', () => {
    expect(flawOfScope('')).toBeUndefined();
    expect(flawOfScope('x'.repeat(2048))).toBeUndefined();
    expect(flawOfScope('x'.repeat(2049))).toBe('The abilities together are longer than 2048 bytes.');
  });
});
