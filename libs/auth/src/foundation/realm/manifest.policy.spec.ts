import type { Factor, Feature } from './feature';
import { rowsOfUser } from './feature-data';
import { manifestErrors, needErrors } from './manifest.policy';
import { resolveOptions } from '../config/options.testkit';

class Token {}

const factor = {} as Factor;
const entities = [{ entity: Token, migration: class {} as never }];
const endAll = async (): Promise<void> => undefined;
const takeover = async (): Promise<boolean> => false;

describe('a manifest', () => {
  it.each<[what: string, manifest: Omit<Feature, 'name'>, errors: RegExp[]]>([
    ['without data and without a factor', {}, []],
    ['with data in the table of the users', { data: { entities: [] } }, []],
    ['with entities whose rows are erased', { data: { entities, erase: [rowsOfUser(Token)] } }, []],
    ['with entities whose rows something else erases', { data: { entities, erase: [] } }, []],
    ['with entities that stay', { data: { entities } }, [/^The feature coin has entities.*State data\.erase/]],
    ['with a factor', { factor, on: { endAll, takeover } }, []],
    ['with a factor that stays', { factor, on: { endAll } }, [/^The feature coin has a factor.*State on\.takeover/]],
    ['with a factor whose challenges stay', { factor, on: { takeover } }, [/outlive.*State on\.endAll/]],
    ['with a factor and nothing else', { factor }, [/on\.takeover/, /on\.endAll/]],
  ])('%s', (_, manifest, errors) => {
    expect(manifestErrors([{ name: 'coin', ...manifest }])).toEqual(errors.map((text) => expect.stringMatching(text)));
  });
});

describe('a feature that needs another one', () => {
  const coin = { name: 'coin', flags: ['conditionalCreate'], needs: ['passkeys'] } as const;

  it.each([
    [
      'without it',
      { conditionalCreate: true },
      ['features.conditionalCreate needs features.passkeys. Turn it on, or remove features.conditionalCreate.'],
    ],
    ['with it', { conditionalCreate: true, passkeys: true }, []],
    ['while it is off', {}, []],
  ])('%s', (_, features, errors) => {
    expect(needErrors([coin], resolveOptions({ secret: 'x', features }))).toEqual(errors);
  });
});
