import type { GuardConfig } from '../config/auth-config';
import type { UsersOptions } from '../config/auth-options';
import { type UserRows, userSources } from './user-source';

class Person {}
class SamePerson {}
class Operator {}
class Crew {}
class Captain {}
class Stoker {}
class Directory {}

const ROWS = new Map<unknown, UserRows>([
  [Person, { table: 'people', types: null }],
  [SamePerson, { table: 'people', types: null }],
  [Operator, { table: 'operators', types: null }],
  [Crew, { table: 'crew', types: null }],
  [Captain, { table: 'crew', types: ['captain'] }],
  [Stoker, { table: 'crew', types: ['stoker'] }],
]);

/** The names of the guards of each source, by the key of the source. */
function sourcesOf(users: Record<string, object>): Record<string, readonly string[]> {
  const guards = Object.entries(users).map(([guard, of]) => ({
    guard,
    users: of as UsersOptions,
    isDefault: guard === 'web',
  }));
  const sources = userSources(guards as GuardConfig[], (entity) => ROWS.get(entity)!);
  for (const [guard, { names }] of sources) expect(names).toContain(guard);
  return Object.fromEntries([...sources.values()].map(({ key, names }) => [key, names]));
}

const factory = { useFactory: () => new Directory() };

describe('the source of the users of guards', () => {
  it.each<[string, Record<string, object>, Record<string, string[]>]>([
    [
      'is one for each table',
      { web: { entity: Person }, admin: { entity: Operator } },
      { web: ['web'], admin: ['admin'] },
    ],
    ['is one for one entity', { web: { entity: Person }, admin: { entity: Person } }, { web: ['admin', 'web'] }],
    [
      'is one for two entities of one table',
      { web: { entity: Person }, b: { entity: SamePerson } },
      { web: ['b', 'web'] },
    ],
    [
      'is one for each type of an inheritance',
      { a: { entity: Captain }, b: { entity: Stoker } },
      { a: ['a'], b: ['b'] },
    ],
    [
      'is one for all guards of an inheritance, if one of them reads the whole table',
      { a: { entity: Captain }, b: { entity: Stoker }, c: { entity: Crew } },
      { a: ['a', 'b', 'c'] },
    ],
    ['is one for one provider', { a: { provider: Directory }, b: { provider: Directory } }, { a: ['a', 'b'] }],
    [
      'is one for one token of a provider',
      { a: { provider: { useExisting: Directory } }, b: { provider: { useExisting: Directory } } },
      { a: ['a', 'b'] },
    ],
    [
      'is one for each provider of a factory',
      { a: { provider: factory }, b: { provider: { ...factory } } },
      { a: ['a'], b: ['b'] },
    ],
    [
      'is one for one name',
      { a: { provider: Directory, source: 'x' }, b: { provider: factory, source: 'x' } },
      { a: ['a', 'b'] },
    ],
    [
      'is one for one name of an entity and a provider',
      { a: { entity: Person, source: 'x' }, b: { provider: factory, source: 'x' } },
      { a: ['a', 'b'] },
    ],
    [
      'is one for each name of one provider',
      { a: { provider: Directory, source: 'x' }, b: { provider: Directory, source: 'y' } },
      { a: ['a'], b: ['b'] },
    ],
    ['is one for each guard without users', { a: {}, b: {} }, { a: ['a'], b: ['b'] }],
  ])('%s', (_, users, sources) => expect(sourcesOf(users)).toEqual(sources));

  it('is the same for every order of the guards', () => {
    const users = { c: { entity: Crew }, b: { entity: Stoker }, a: { entity: Captain }, web: { entity: Person } };
    const reversed = Object.fromEntries(Object.entries(users).toReversed());
    expect(sourcesOf(users)).toEqual({ a: ['a', 'b', 'c'], web: ['web'] });
    expect(sourcesOf(reversed)).toEqual(sourcesOf(users));
  });
});
