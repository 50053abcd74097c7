import { runInNewContext } from 'node:vm';
import { optionsPage } from '../../../../../docs/generate-options';
import type { AuthModuleOptions } from './auth-options';
import { merge } from './merge';
import { LIBRARY_MANIFESTS, optionErrors, publicConfig, resolveOptions } from './options.testkit';
import { count, namedIn, optionsOf, publicBlock, resolveTree, text, value } from './option-table';

/** The cells of each row of the page that is generated from the documented interfaces. */
const ROWS = optionsPage()
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
  .map(([, option, , fallback, variable]) => ({ option: option!.replaceAll('`', ''), fallback, variable }));

const { byName } = optionsOf(LIBRARY_MANIFESTS);
const { guards } = resolveOptions({});

const valueAt = (config: object, option: string): unknown =>
  option.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], config);

describe('the tables of options', () => {
  it('state each option once', () => {
    const stated = LIBRARY_MANIFESTS.flatMap(({ options = {}, moduleOptions = {} }) => [
      ...namedIn(options),
      ...namedIn(moduleOptions),
    ]).map(([option]) => option);
    expect(stated.filter((option, i) => stated.indexOf(option) !== i)).toEqual([]);
    expect(stated.toSorted()).toEqual([...byName.keys()].toSorted());
  });

  const literals = ROWS.filter(
    ({ option, fallback }) => byName.has(option) && fallback!.startsWith('`') && option !== 'features.registration',
  );

  /** Switches on what gives an option an effect. */
  const base = { features: { registration: true }, passwords: { breached: { check: {} } } };
  const resolved = (options: object): unknown => JSON.parse(JSON.stringify(resolveOptions(merge(base, options))));
  const unset = resolved({});

  it.each(literals.map(({ option, fallback }) => [option, fallback!.replaceAll('`', '')]))(
    'have the documented default of %s: to set it to %s changes nothing',
    (option, documented) => {
      const given = runInNewContext(`(${documented})`) as unknown;
      const plain: unknown = JSON.parse(JSON.stringify(given));
      const set = option.split('.').reduceRight((inner: unknown, name) => ({ [name]: inner }), plain) as object;
      expect(resolved(set)).toEqual(unset);
    },
  );

  it('have the documented variable of each option', () => {
    const ofTables = [...byName].flatMap(([option, { env }]) => (env ? [[option, `SVC_${env}`]] : []));
    const documented = ROWS.filter(({ option }) => option !== 'keys.public').flatMap(({ option, variable }) => {
      const [, name] = /`(SVC_\w+)`/.exec(variable!) ?? [];
      return name ? [[option, name]] : [];
    });
    expect(ofTables.toSorted()).toEqual(documented.toSorted());
  });
});

describe('durations', () => {
  // The type checker reads these options, too.
  it('are the same as a number, as its text and with a unit', () => {
    const texts: AuthModuleOptions = { accessTtl: '120m', refreshTtl: '24h', leeway: '5', storeTimeoutMs: '900ms' };
    const { guards: ofTexts, storeTimeoutMs } = resolveOptions(texts);
    expect(ofTexts[0]).toMatchObject({ accessTtl: 7200, refreshTtl: 86_400, leeway: 5 });
    expect(storeTimeoutMs).toBe(900);
    const blocks: AuthModuleOptions = {
      sessions: { idleTimeout: '7d' },
      rateLimits: { login: { decaySeconds: '90s' } },
      emailVerification: { expire: '2h' },
      retention: { lockoutDays: '48h' },
    };
    const { guards: resolved, retention } = resolveOptions(blocks);
    const { sessions, rateLimits, emailVerification } = resolved[0]!;
    expect([sessions.idleTimeout, rateLimits.login.decaySeconds]).toEqual([604_800, 90]);
    expect([emailVerification.expire, retention.lockoutDays]).toEqual([120, 2]);
    // @ts-expect-error -- the unit is not one of the library
    const otherUnit: AuthModuleOptions = { accessTtl: '1w' };
    expect(optionErrors(otherUnit).join()).toContain('a duration with a unit: ms, s, m, h, d');
    // @ts-expect-error -- a number that is no duration has no unit
    const noDuration: AuthModuleOptions = { forkThreshold: '3s' };
    expect(optionErrors(noDuration).join()).toContain('a whole number from 2');
  });
});

describe('the resolution of a table', () => {
  const tree = {
    size: count(1, 9, { default: 3 }),
    inner: { name: text({ default: 'a' }), both: value({ resolve: (given, { guard }) => [given, guard] }) },
    extra: { needed: value({ required: true }), size: count(1, 9, { default: 4 }) },
  };

  it('applies the default of each option, and freezes each block', () => {
    const resolved = resolveTree(tree, { inner: { both: 1 } }, { guard: 'g' });
    expect(resolved).toEqual({ size: 3, inner: { name: 'a', both: [1, 'g'] } });
    expect([resolved, resolved.inner].map(Object.isFrozen)).toEqual([true, true]);
  });

  it('leaves out a block with a required option unless the host sets the block', () => {
    expect(resolveTree(tree, {}, {}).extra).toBeUndefined();
    expect(resolveTree(tree, { extra: { needed: 1 } }, {}).extra).toEqual({ needed: 1, size: 4 });
  });
});

describe('an option that is added to a table', () => {
  const config = { ...guards[0]!, added: { hidden: 'x', shown: 1, decided: () => true } };
  const shownOf = (tree: object): unknown =>
    valueAt(publicConfig(config, [{ options: { added: tree as never } }]), 'added');

  it('is private', () => {
    expect(shownOf({ hidden: text({}), shown: count(0, 1, { default: 0 }) })).toBeUndefined();
  });

  it('is public in a public block, with null for a function', () => {
    expect(shownOf(publicBlock({ shown: value(), decided: value() }))).toEqual({ shown: 1, decided: null });
  });
});
