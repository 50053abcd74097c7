import { pgbench } from '../pgbench/pgbench';
import { type Group, NAMES, type Scenarios, loaded, refresh } from './group';
import { ADAPTERS } from '../server';

/** One token for the next. */
export const REFRESH: Group = {
  title: 'Refresh',
  async scenarios(bench) {
    const scenarios: Scenarios = {};
    for (const adapter of ADAPTERS) {
      const load = refresh(`ours, ${NAMES[adapter]}`, await bench.start('ours', { adapter }), '', '/auth/refresh');
      scenarios[`ours.${adapter}`] = loaded(bench, load);
    }
    const database = await pgbench(bench, scenarios['ours.express']!.load!);
    if (database) scenarios.pgbench = database;
    const handRolled = await bench.start('hand-rolled');
    const byHand = { string: 'passport, string secret, Express', 'key-object': 'passport, KeyObject, Express' };
    for (const [prefix, name] of Object.entries(byHand))
      scenarios[prefix] = loaded(bench, refresh(name, handRolled, `/${prefix}`, `/${prefix}/refresh`));
    return scenarios;
  },
};
