import { fieldFault } from '../../request/http/request-body';
import type { RegistrationField } from './registration-rules';

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
    [{}, { type: 'object' }, null],
    [{ any: [] }, { type: 'object', fields: {} }, null],
    [null, { type: 'object' }, 'validation.required'],
    [[], { type: 'object' }, 'validation.object'],
    ['{}', { type: 'object' }, 'validation.object'],
    [undefined, { type: 'object' }, 'validation.object'],
    [[], { type: 'array' }, null],
    [null, { type: 'array', optional: true }, null],
    [{ length: 0 }, { type: 'array' }, 'validation.array'],
    ['[]', { type: 'array' }, 'validation.array'],
    [[1, 2], { type: 'array', maxItems: 2 }, null],
    [[1, 2, 3], { type: 'array', maxItems: 2 }, 'validation.max_items'],
    [Array(101).fill(''), { type: 'array' }, 'validation.max_items'],
  ])('with the value %j and the rule %j has the fault %s', (value, rule, fault) => {
    expect(fieldFault(value, rule)).toBe(fault);
  });

  it('may contain a NUL if it is a password, which the password rules check', () => {
    expect(fieldFault('a\0b', {}, true)).toBeNull();
  });
});
