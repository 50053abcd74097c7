import type { Load } from '../load';
import { ADAPTERS, type Server } from '../server';
import { type Group, NAMES, type Scenarios, bearer, loaded } from './group';

/** The number of prepared sessions for each second of a sample and each connection. */
const EACH = 20;
const LEAST = 20;

/** Logouts. Each session ends once, so that a sample ends with its last session. */
export const LOGOUT: Group = {
  title: 'Logout',
  async scenarios(bench) {
    const scenarios: Scenarios = {};
    for (const adapter of ADAPTERS) {
      const server = await bench.start('ours', { adapter });
      scenarios[`ours.${adapter}`] = loaded(bench, logout(`ours, ${NAMES[adapter]}`, server));
    }
    return scenarios;
  },
};

export const logout = (name: string, server: Server): Load => ({
  name,
  server,
  method: 'POST',
  path: '/auth/logout',
  isScarce: true,
  async connections(count, seconds) {
    const each = Math.max(LEAST, Math.ceil(EACH * seconds));
    const sessions = await server.sessions('', count * each);
    const turns = sessions.map(bearer);
    return Array.from({ length: count }, (_, i) => ({ headers: {}, turns: turns.slice(i * each, (i + 1) * each) }));
  },
});
