import { removalVerdict } from './last-passkey.policy';

describe('the removal of a passkey', () => {
  it.each([
    ['remove', { keepsLast: false, hasPassword: false, passkeys: ['a'] }],
    ['remove', { keepsLast: true, hasPassword: true, passkeys: ['a'] }],
    ['remove', { keepsLast: true, hasPassword: false, passkeys: ['b', 'a'] }],
    ['last', { keepsLast: true, hasPassword: false, passkeys: ['a'] }],
    ['absent', { keepsLast: true, hasPassword: false, passkeys: ['b'] }],
    ['absent', { keepsLast: true, hasPassword: true, passkeys: [] }],
  ] as const)('is "%s" for %j', (verdict, removal) => expect(removalVerdict('a', removal)).toBe(verdict));
});
