import { ownField } from './request-body';

describe('a field of a body', () => {
  it.each<[unknown, unknown]>([
    [{ name: ' Ada ' }, 'Ada'],
    [{ name: '' }, null],
    [{ name: '  ' }, null],
    [{ name: 0 }, 0],
    [{ name: false }, false],
    [{ name: null }, null],
    [{}, null],
    [Object.create({ name: 'inherited' }), null],
    [['name'], null],
    ['name', null],
    [undefined, null],
  ])('of the body %j has the value %j', (body, value) => {
    expect(ownField(body, 'name')).toBe(value);
  });

  it('with a password is not trimmed', () => {
    for (const name of ['password', 'password_confirmation', 'current_password']) {
      expect(ownField({ [name]: ' x ' }, name)).toBe(' x ');
      expect(ownField({ [name]: '' }, name)).toBeNull();
    }
  });

  it('is never an inherited property', () => {
    for (const name of ['constructor', '__proto__', 'toString']) expect(ownField({}, name)).toBeNull();
  });
});
