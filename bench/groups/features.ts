import { type Group, type Scenarios, guarded, loaded, refresh } from './group';

const SETS = { none: 'every feature off', default: 'the default features', many: 'six more features on' };

/** What the features cost requests that do not use them. On Fastify, which costs less than Express. */
export const FEATURES: Group = {
  title: 'Features',
  async scenarios(bench) {
    const scenarios: Scenarios = {};
    for (const [set, label] of Object.entries(SETS)) {
      const server = await bench.start('ours', { adapter: 'fastify', BENCH_FEATURES: set });
      scenarios[`refresh.${set}`] = loaded(bench, refresh(`refresh, ${label}`, server, '', '/auth/refresh'));
      scenarios[`guarded.${set}`] = loaded(bench, guarded(`guarded, ${label}`, server, '', '/guarded'));
    }
    return scenarios;
  },
};
