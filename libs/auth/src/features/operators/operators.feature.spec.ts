import type { AuthModuleOptions } from '../../kit';
import { resolveOptions } from '../../foundation/config/options.testkit';
import { operators } from './operators.feature';
import { operatorsLanguages } from './operators.languages';

const ABILITIES = { hooks: { abilities: () => [] } };

const errorsOf = (options: AuthModuleOptions): readonly string[] =>
  operators.configErrors!(resolveOptions({ ...ABILITIES, ...options }), true, new Map(), []);

describe('the guard of operators', () => {
  it('is one beside that of the users', () => {
    expect(errorsOf({ guards: { admin: { features: { operators: true } } } })).toEqual([]);
  });

  it.each<[string, AuthModuleOptions]>([
    ['every guard, by an option of the top level', { features: { operators: true }, guards: { admin: {} } }],
    [
      'every guard, with other users',
      { features: { operators: true }, operators: { users: 'b2b' }, guards: { b2b: {} } },
    ],
    [
      'the guard of its own users',
      { guards: { admin: { features: { operators: true }, operators: { users: 'admin' } } } },
    ],
  ])('is not %s', (_, options) => {
    expect(errorsOf(options)).toContainEqual(expect.stringMatching(/is on at a guard that has the users/));
  });
});

describe('the mails about acts of the support', () => {
  it.each(Object.entries(operatorsLanguages))('have their own advice in %s: the user has not acted', (_, { mails }) => {
    for (const { note, preheader } of Object.values(mails)) expect([note, preheader]).not.toContain(undefined);
  });
});
