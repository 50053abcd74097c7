import { sharedPath } from './guard-isolation.policy';

const at = (guard: string, path: string) => ({ guard, path });

describe('the paths of guards', () => {
  it.each([
    ['two of one', [at('admin', 'auth'), at('api', 'auth')], ['admin', 'api']],
    ['the last two of three', [at('a', 'x'), at('b', 'auth'), at('c', 'auth')], ['b', 'c']],
  ])('are shared by %s', (_, guards, names) => expect(sharedPath(guards)).toEqual(names));

  it.each([
    ['one guard', [at('api', 'auth')]],
    ['guards with a path each', [at('admin', 'admin/auth'), at('api', 'auth')]],
  ])('are not shared by %s', (_, guards) => expect(sharedPath(guards)).toBeUndefined());
});
