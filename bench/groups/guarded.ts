import type { Connection, Load } from '../load';
import { ADAPTERS, type Server } from '../server';
import { BARE, type Group, NAMES, type Scenarios, guarded, loaded } from './group';

const BETTER_AUTH = { database: 'default', redis: 'Redis as secondary storage', cookie: 'cookie cache' };

/**
 * Peers that need a newer Node.js than this library: the oldest version that the `engines` of the package allow, and how
 * their sessions are sent.
 */
const NEWER = {
  'better-auth-nest': { name: '`@thallesp/nestjs-better-auth`', least: '22.22.1', load: withCookies },
  bymax: { name: '`@bymax-one/nest-auth`', least: '24.0.0', load: withTokens },
};

const { node } = process.versions;
const PEERS = Object.entries(NEWER).map(([app, peer]) => {
  const isLeftOut = node.localeCompare(peer.least, 'en', { numeric: true }) < 0;
  return { app, isLeftOut, ...peer };
});
const leftOut = PEERS.filter(({ isLeftOut }) => isLeftOut).map(({ name, least }) => `${name} (needs ${least})`);

/** Requests to a route that requires authentication. */
export const GUARDED: Group = {
  title: 'Guarded GET',
  note: leftOut.length ? `Left out on Node ${node}: ${leftOut.join(', ')}.` : undefined,
  async scenarios(bench) {
    const loads: Record<string, Load> = {};
    for (const [variant, label] of Object.entries(BARE)) {
      const server = await bench.start('bare', { BENCH_VARIANT: variant });
      loads[`bare.${variant}`] = guarded(`bare, ${label}`, server, '', '/guarded');
    }
    for (const adapter of ADAPTERS) {
      const on = NAMES[adapter];
      const ours = await bench.start('ours', { adapter });
      loads[`ours.${adapter}`] = guarded(`ours, ${on}`, ours, '', '/guarded');
      const lean = await bench.start('lean', { adapter });
      loads[`lean.${adapter}`] = guarded(`lean guard, ${on}`, lean, '', '/guarded');
      loads[`same.${adapter}`] = guarded(`empty route of the same app, ${on}`, ours, '', '/empty');
      const empty = await bench.start('empty', { adapter });
      loads[`empty.${adapter}`] = guarded(`app with only an empty route, ${on}`, empty, '', '/empty');
      const handRolled = await bench.start('hand-rolled', { adapter });
      loads[`string.${adapter}`] = guarded(`passport, string secret, ${on}`, handRolled, '/string', '/string/guarded');
      loads[`keyObject.${adapter}`] = guarded(
        `passport, KeyObject, ${on}`,
        handRolled,
        '/key-object',
        '/key-object/guarded',
      );
      for (const [variant, label] of Object.entries(BETTER_AUTH)) {
        const server = await bench.start('better-auth', { adapter, BENCH_VARIANT: variant });
        loads[`better-auth.${variant}.${adapter}`] = withCookies(`better-auth, ${label}, ${on}`, server);
      }
      for (const { app, name, load, isLeftOut } of PEERS)
        if (!isLeftOut) loads[`${app}.${adapter}`] = load(`${name}, ${on}`, await bench.start(app, { adapter }));
    }
    const scenarios = Object.entries(loads).map(([key, load]) => [key, loaded(bench, load)] as const);
    return Object.fromEntries(scenarios) satisfies Scenarios;
  },
};

function withCookies(name: string, server: Server): Load {
  const connections = async (count: number): Promise<Connection[]> =>
    (await server.sessions<string>('', count)).map((cookie) => ({ headers: { cookie } }));
  return { name, server, method: 'GET', path: '/guarded', connections };
}

function withTokens(name: string, server: Server): Load {
  return guarded(name, server, '', '/guarded');
}
