import { pgbench } from '../pgbench/pgbench';
import type { Load } from '../load';
import { BARE, type Group, NAMES, type Scenarios, loaded, refresh } from './group';
import { ADAPTERS } from '../server';

/** Exchanges of a refresh token for the next one. */
export const REFRESH: Group = {
  title: 'Refresh',
  async scenarios(bench) {
    const scenarios: Scenarios = {};
    for (const adapter of ADAPTERS) {
      const load = refresh(`ours, ${NAMES[adapter]}`, await bench.start('ours', { adapter }), '', '/auth/refresh');
      scenarios[`ours.${adapter}`] = loaded(bench, load);
      // In a separate process, because earlier load changes the compiled code of a server.
      const name = `empty POST route of the same app, ${NAMES[adapter]}`;
      const empty = refresh(name, await bench.start('ours', { adapter }), '', '/empty');
      scenarios[`same.${adapter}`] = loaded(bench, { ...empty, connections: unanswered(empty) });
      const lean = await bench.start('lean', { adapter });
      scenarios[`lean.${adapter}`] = loaded(bench, refresh(`lean exchange, ${NAMES[adapter]}`, lean, '', '/refresh'));
    }
    for (const [variant, label] of Object.entries(BARE)) {
      const bare = await bench.start('bare', { BENCH_VARIANT: variant });
      scenarios[`bare.${variant}`] = loaded(bench, refresh(`bare exchange, ${label}`, bare, '', '/refresh'));
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

/** Sends the same bodies repeatedly: an empty route returns no next token. */
const unanswered =
  ({ connections }: Load): Load['connections'] =>
  async (count, seconds) =>
    (await connections(count, seconds)).map(({ headers, body }) => ({ headers, body }));
