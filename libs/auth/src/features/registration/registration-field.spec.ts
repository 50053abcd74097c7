import { fieldFault } from './registration-form';
import type { RegistrationField } from '../../foundation/config/registration-rules';

describe('a field of a registration', () => {
  it.each<[unknown, RegistrationField, string | null]>([
    ['Ada', {}, null],
    [null, {}, 'validation.required'],
    [null, { optional: true }, null],
    [7, {}, 'validation.string'],
    [['Ada'], {}, 'validation.string'],
    ['x'.repeat(255), {}, null],
    ['x'.repeat(256), {}, 'validation.max_length'],
    ['🔑'.repeat(255), {}, null],
    ['abcdef', { maxLength: 5 }, 'validation.max_length'],
    ['a\0b', {}, 'validation.invalid'],
    ['ada@localhost', { email: true }, null],
    ['ada', { email: true }, 'validation.email'],
    [7, { type: 'number' }, null],
    [Infinity, { type: 'number' }, 'validation.invalid'],
    ['7', { type: 'number' }, 'validation.invalid'],
    [false, { type: 'boolean' }, null],
    ['false', { type: 'boolean' }, 'validation.invalid'],
    [{}, { type: 'boolean' }, 'validation.invalid'],
  ])('with the value %j and the rule %j has the fault %s', (value, rule, fault) => {
    expect(fieldFault(value, rule)).toBe(fault);
  });

  it('may contain a NUL if it is a password, which the password rules check', () => {
    expect(fieldFault('a\0b', {}, true)).toBeNull();
  });
});
