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

  const off = (users: string, other: string) =>
    `features.operators (SVC_FEATURE_OPERATORS) is on at the guard "${users}", whose users the operators help. Turn it on at the guard of the operators only: guards.${other}.features.operators.`;
  const own = (option: string) =>
    `${option} (SVC_OPERATORS_USERS) is "admin", the guard of the operators. Set it to the guard of the users whom they help, such as "api".`;

  it.each<[string, AuthModuleOptions, string]>([
    [
      'every guard, where the feature is on for all guards',
      { features: { operators: true }, guards: { admin: {} } },
      off('api', 'admin'),
    ],
    [
      'every guard, with other users',
      { features: { operators: true }, operators: { users: 'b2b' }, guards: { b2b: {} } },
      off('b2b', 'api'),
    ],
    [
      'the guard that its operators.users names',
      { guards: { admin: { features: { operators: true }, operators: { users: 'admin' } } } },
      own('guards.admin.operators.users'),
    ],
    [
      'the guard that operators.users names, set for all guards',
      { operators: { users: 'admin' }, guards: { admin: { features: { operators: true } } } },
      own('operators.users'),
    ],
    [
      'one for users without a guard',
      { guards: { admin: { features: { operators: true }, operators: { users: 'b2b' } } } },
      'guards.admin.operators.users (SVC_OPERATORS_USERS) names no guard: "b2b". Set it to one of: admin, api.',
    ],
    [
      'one without abilities',
      { hooks: {}, guards: { admin: { features: { operators: true } } } },
      'guards.admin.features.operators needs abilities at the guard "admin": each action needs its own. Set hooks.abilities.',
    ],
  ])('is not %s', (_, options, text) => {
    expect(errorsOf(options)).toEqual([text]);
  });
});

describe('the mails about acts of the support', () => {
  it.each(Object.entries(operatorsLanguages))('have their own advice in %s: the user has not acted', (_, { mails }) => {
    for (const { note, preheader } of Object.values(mails)) expect([note, preheader]).not.toContain(undefined);
  });
});
