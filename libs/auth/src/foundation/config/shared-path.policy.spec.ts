import { sharedPath } from './guard-isolation.policy';

const at = (guard: string, path: string) => ({ guard, path });

describe('a path', () => {
  it.each([
    ['two guards', [at('admin', 'auth'), at('api', 'auth')], ['admin', 'api']],
    ['two guards whose paths differ in case', [at('admin', 'Auth'), at('api', 'auth')], ['admin', 'api']],
    [
      'two guards of which one is at a route of the other',
      [at('admin', 'auth/passkeys'), at('api', 'auth')],
      ['admin', 'api'],
    ],
    ['the last two of three guards', [at('a', 'x'), at('b', 'auth'), at('c', 'auth')], ['b', 'c']],
  ])('is shared by %s', (_, guards, names) => expect(sharedPath(guards, ['passkeys'])).toEqual(names));

  it.each([
    ['a single guard', [at('api', 'auth')]],
    ['guards with different paths', [at('admin', 'admin/auth'), at('api', 'auth')]],
    ['a guard whose path is inside the other one', [at('admin', 'auth/admin'), at('api', 'auth')]],
  ])('is not shared by %s', (_, guards) => expect(sharedPath(guards, ['passkeys'])).toBeUndefined());
});
